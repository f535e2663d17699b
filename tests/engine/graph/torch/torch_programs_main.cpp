// torch_programs: runs PyTorch programs in LibTorch, with weights and inputs made from a seed, and
// prints a row for each: how long it took, and what its first output looks like.
// docs/measurements/torch-reference.md is made with it.
#include "engine/graph/read_program.h"
#include "engine/graph/reference/torch_reference.h"
#include "engine/graph/tensor_extents.h"
#include "tests/paths.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

struct Settings {
    std::string device = "cpu";
    std::chrono::seconds time{20};
    std::uint64_t maxBytes = std::uint64_t{2} << 30;
    bool wantsTimes = false;
    std::vector<std::filesystem::path> archives;
};

std::optional<Settings> parse(int count, char** words) {
    Settings settings;
    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        const auto valueOf = [&](std::string_view option) {
            return word.starts_with(option) ? words[i] + option.size() : nullptr;
        };
        if (const char* device = valueOf("--device="))
            settings.device = device;
        else if (const char* seconds = valueOf("--seconds="))
            settings.time = std::chrono::seconds(std::strtol(seconds, nullptr, 10));
        else if (const char* gigabytes = valueOf("--gigabytes="))
            settings.maxBytes = static_cast<std::uint64_t>(std::strtod(gigabytes, nullptr) * 1e9);
        else if (word == "--time")
            settings.wantsTimes = true;
        else if (word.starts_with("--"))
            return std::nullopt;
        else
            settings.archives.push_back(std::filesystem::absolute(word));
    }
    return settings;
}

std::uint64_t bytesOf(const TensorType& type) {
    const auto elements = static_cast<std::uint64_t>(elementCount(type).value_or(0));
    return elements * sizeOf(type.element);
}

/// Returns the min memory of a run: inputs and weights, the largest value that is computed, and
/// its operands.
std::uint64_t neededBytes(const Program& program) {
    std::uint64_t held = 0;
    std::uint64_t largest = 0;
    for (const auto& [name, tensor] : program.tensors)
        held += bytesOf(tensor.type);
    for (const auto& [name, type] : program.values)
        largest = std::max(largest, bytesOf(type));
    for (const Input& input : program.inputs)
        if (const auto type = program.values.find(input.value);
            input.kind == Input::Kind::User && type != program.values.end())
            held += bytesOf(type->second);
    return held + 2 * largest;
}

/// "4096 x 10, mean 0.1, deviation 0.2", of a float32 output.
std::string look(const TensorData& output) {
    std::string text;
    for (const Extent& size : output.type.sizes)
        text += (text.empty() ? "" : " x ") + std::to_string(size.value);
    if (output.type.element != ElementType::Float32 || output.bytes.empty())
        return text + ", " + std::string(nameOf(output.type.element));
    double sum = 0;
    double squares = 0;
    std::uint64_t infinite = 0;
    const std::size_t elements = output.bytes.size() / sizeof(float);
    for (std::size_t i = 0; i < elements; ++i) {
        float value = 0;
        std::memcpy(&value, output.bytes.data() + i * sizeof value, sizeof value);
        if (!std::isfinite(value)) {
            ++infinite;
            continue;
        }
        sum += value;
        squares += double{value} * value;
    }
    const double mean = sum / static_cast<double>(elements);
    const double variance = squares / static_cast<double>(elements) - mean * mean;
    text +=
        fmt::format(", mean {:.3g}, deviation {:.3g}", mean, std::sqrt(std::max(variance, 0.0)));
    return infinite == 0 ? text : text + fmt::format(", {} not finite", infinite);
}

/// Names the program's operators that are not run; empty if all are.
std::string missingOperators(TorchReference& reference, const Program& program) {
    TorchVersionRequest request;
    for (const Node& node : program.nodes)
        request.operators.push_back(node.target);
    const auto version = reference.version(request);
    if (!version)
        return version.error().describe();
    std::string missing;
    for (const auto& [target, reason] : version->lacking)
        missing += "; " + reason;
    return missing;
}

/// The row of a program, and whether it ran.
std::pair<bool, std::string> survey(TorchReference& reference, const Settings& settings,
                                    const std::filesystem::path& archive) {
    const auto program = readProgram(archive);
    if (!program)
        return {false, program.error().describe()};
    if (const auto bytes = neededBytes(*program); bytes > settings.maxBytes)
        return {false, fmt::format("left out: needs {:.1f} GB{}", static_cast<double>(bytes) * 1e-9,
                                   missingOperators(reference, *program))};
    TorchSubject subject;
    subject.archive = archive;
    subject.precision = Precision::Float32;
    subject.device = settings.device;
    if (settings.wantsTimes) {
        TorchTimingRequest request;
        request.subject = subject;
        request.time = settings.time;
        request.longest = settings.time / 2;
        const auto timing = reference.time(request);
        if (!timing)
            return {false, timing.error().describe()};
        return {true, fmt::format("{:.1f} us, spread {:.1f} %", timing->median(),
                                  100 * timing->spread())};
    }
    TorchRunRequest request;
    request.subject = subject;
    request.time = settings.time;
    const auto begin = std::chrono::steady_clock::now();
    const auto run = reference.run(request);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (!run)
        return {false, run.error().describe()};
    const bool hasOutput = !run->outputs.empty() && run->outputs.front();
    return {true, fmt::format("{:.2f} s\t{}", took.count(),
                              hasOutput ? look(*run->outputs.front()) : "no tensor")};
}

} // namespace
} // namespace kernelskill::engine::graph

int main(int count, char** words) {
    using namespace kernelskill::engine::graph;
    const auto settings = parse(count, words);
    if (!settings || settings->archives.empty()) {
        std::fputs("usage: torch_programs [--device=NAME] [--time] [--seconds=N] [--gigabytes=N] "
                   "ARCHIVE...\n"
                   "  --time        time each program, instead of looking at what it computes\n"
                   "  --seconds=N   give up on a program after that (20)\n"
                   "  --gigabytes=N leave out programs that need more memory (2)\n",
                   stderr);
        return 2;
    }
    TorchReference reference(paths::torchProgram);
    int ran = 0;
    for (const auto& archive : settings->archives) {
        const auto [isRun, row] = survey(reference, *settings, archive);
        ran += isRun ? 1 : 0;
        fmt::print("{}\t{}\t{}\n", archive.stem().string(), isRun ? "ran" : "not run", row);
        std::fflush(stdout);
    }
    fmt::print("{} of {} ran\n", ran, settings->archives.size());
    return 0;
}
