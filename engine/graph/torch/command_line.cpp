#include "engine/graph/torch/command_line.h"

#include "analysis/source/json.h"
#include "engine/graph/reference/torch_json.h"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

namespace kernelskill::engine::graph {
namespace {

using nlohmann::json;

std::unexpected<Error> misuse(const std::string& what) {
    return std::unexpected(Error{ErrorKind::InvalidInput, what, {}, "try --help"});
}

/// The parsed command line.
struct Words {
    std::string_view judged, timed, library, device = "cuda";
    std::uint64_t seed = 1, seeds = 5, rounds = 100, gateSeconds = 60;
    bool allowsTf32 = false, wantsTimes = true;
};

Result<void> readWord(std::string_view word, Words& words) {
    const std::size_t equals = word.find('=');
    const std::string_view option = word.substr(0, equals);
    const auto value = equals == std::string_view::npos
                           ? std::nullopt
                           : std::optional<std::string_view>(word.substr(equals + 1));
    const auto isOption = [&](std::string_view name) { return option == name && value; };
    const auto number = [&](std::uint64_t& into) -> Result<void> {
        const auto [end, problem] =
            std::from_chars(value->data(), value->data() + value->size(), into);
        constexpr std::uint64_t most = 1'000'000'000;
        if (problem != std::errc() || end != value->data() + value->size() || into > most)
            return misuse("'" + std::string(word) + "' needs a whole number up to 1000000000");
        return {};
    };
    if (isOption("--judge"))
        words.judged = *value;
    else if (isOption("--time"))
        words.timed = *value;
    else if (isOption("--library"))
        words.library = *value;
    else if (isOption("--device"))
        words.device = *value;
    else if (isOption("--seed"))
        return number(words.seed);
    else if (isOption("--seeds"))
        return number(words.seeds);
    else if (isOption("--rounds"))
        return number(words.rounds);
    else if (isOption("--gate-seconds"))
        return number(words.gateSeconds);
    else if (word == "--tf32")
        words.allowsTf32 = true;
    else if (word == "--no-times")
        words.wantsTimes = false;
    else
        return misuse("unknown argument '" + std::string(word) + "'");
    return {};
}

} // namespace

std::string_view usage() {
    return "usage: kernelskill-torch\n"
           "       kernelskill-torch --judge=ARCHIVE --library=FILE [OPTION...]\n"
           "       kernelskill-torch --time=ARCHIVE [OPTION...]\n"
           "Runs PyTorch programs. Without arguments it waits for requests of kernelskill, which "
           "starts it.\n\n"
           "  --judge=ARCHIVE   compare a generated model with the program, and time both; prints "
           "JSON\n"
           "  --library=FILE    the model's library, libmodel.so\n"
           "  --time=ARCHIVE    time the program alone, node by node; prints JSON\n"
           "  --device=NAME     cuda (default), cuda:1, cpu\n"
           "  --seed=N          the first seed of weights and inputs (1)\n"
           "  --seeds=N         seeds for each of six distributions of inputs (5)\n"
           "  --rounds=N        timed rounds (100); fewer of more than 50 ms\n"
           "  --gate-seconds=N  begin no comparison after so long (60)\n"
           "  --tf32            products of library nodes may use TF32, as convolutions may\n"
           "  --no-times        only compare\n\n"
           "Exit status: 0, the model is right at the tolerance 1e-2; 1, it is not, or the "
           "program does not run;\n"
           "2, wrong arguments; 3, a part of LibTorch or a device is missing.\n";
}

Result<TorchRequest> requestFrom(std::span<const char* const> arguments) {
    Words words;
    for (const char* argument : arguments)
        if (auto read = readWord(argument, words); !read)
            return std::unexpected(read.error());
    if (words.judged.empty() == words.timed.empty())
        return misuse("give --judge or --time");
    TorchSubject subject;
    subject.archive = std::filesystem::absolute(words.judged.empty() ? words.timed : words.judged);
    subject.device = words.device;
    subject.seed = words.seed;
    subject.allowsTf32 = words.allowsTf32;
    if (words.judged.empty()) {
        TorchTimingRequest request;
        request.subject = std::move(subject);
        request.rounds = static_cast<std::uint32_t>(words.rounds);
        return request;
    }
    if (words.library.empty())
        return misuse("--judge needs --library");
    TorchJudgeRequest request;
    request.subject = std::move(subject);
    request.library = std::filesystem::absolute(words.library);
    request.seeds = static_cast<std::uint32_t>(words.seeds);
    request.rounds = static_cast<std::uint32_t>(words.rounds);
    request.longestGate = std::chrono::seconds(words.gateSeconds);
    request.wantsTimes = words.wantsTimes;
    return request;
}

std::string jsonOf(const TorchAnswer& answer) {
    json text;
    if (const auto* judgement = std::get_if<Judgement>(&answer)) {
        text = toJson(*judgement);
    } else if (const auto* timing = std::get_if<TorchTiming>(&answer)) {
        text = toJson(*timing);
        text["median"] = timing->median();
        text["spread"] = timing->spread();
    } else if (const auto* failure = std::get_if<TorchFailure>(&answer)) {
        text = {{"error", failure->error.describe()}};
    }
    return text.dump(-1, ' ', false, json::error_handler_t::replace);
}

int exitStatus(const TorchAnswer& answer) {
    if (const auto* judgement = std::get_if<Judgement>(&answer))
        return judgement->isWithinLoose() ? 0 : 1;
    const auto* failure = std::get_if<TorchFailure>(&answer);
    if (failure == nullptr)
        return 0;
    switch (failure->error.kind) {
    case ErrorKind::InvalidInput:
        return 2;
    case ErrorKind::Missing:
        return 3;
    default:
        return 1;
    }
}

} // namespace kernelskill::engine::graph
