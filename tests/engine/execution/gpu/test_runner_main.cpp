// A runner without a GPU: it answers each request in a way that its input tells, or dies of it.
// Subjects' symbols are its orders: "sleep:MS", "die", "die-once:PATH" (a file that it makes
// first), "fatal", "garbage"; anything else is echoed.
#include "engine/execution/framing.h"
#include "engine/execution/gpu/runner_wire.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>

using namespace kernelskill::engine;
using namespace kernelskill::engine::gpu;

namespace {

std::optional<Request> readRequest() {
    std::array<std::byte, wire::frameHeaderBytes> header{};
    if (std::fread(header.data(), 1, header.size(), stdin) != header.size())
        return std::nullopt;
    std::vector<std::byte> payload(wire::payloadLength(header).value());
    if (std::fread(payload.data(), 1, payload.size(), stdin) != payload.size())
        return std::nullopt;
    auto request = decodeRequest(payload);
    return request ? std::optional(std::move(*request)) : std::nullopt;
}

Answer obey(const std::string& order) {
    const auto rest = order.substr(std::min(order.size(), order.find(':') + 1));
    if (order == "die")
        std::raise(SIGKILL);
    if (order.starts_with("die-once:") && !std::ifstream(rest)) {
        std::ofstream{rest};
        std::raise(SIGKILL);
    }
    if (order == "fatal")
        return FailureAnswer{{kernelskill::ErrorKind::Failed, "illegal address", {}, {}}, true};
    if (order.starts_with("sleep:"))
        std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(rest.c_str())));
    RunAnswer answer;
    answer.printed = order + " by " + std::to_string(::getpid());
    return answer;
}

} // namespace

int main(int count, char** words) {
    int device = 0;
    for (int i = 1; i < count; ++i) {
        if (const std::string word = words[i]; word.starts_with("--device="))
            device = std::atoi(word.c_str() + 9);
    }
    const char* devices = std::getenv("CUDA_VISIBLE_DEVICES");
    while (const auto request = readRequest()) {
        Answer answer;
        if (const auto* run = std::get_if<RunRequest>(&*request)) {
            answer = obey(run->subject.symbol);
            if (run->subject.symbol == "device")
                std::get<RunAnswer>(answer).printed = std::to_string(device);
        } else {
            DeviceDescription description;
            description.devices = devices != nullptr ? std::atoi(devices) : 1;
            description.name = "test runner";
            answer = description;
        }
        auto frame = encode(answer);
        if (const auto* run = std::get_if<RunRequest>(&*request);
            run != nullptr && run->subject.symbol == "garbage")
            frame.back() = std::byte{0x1c}; // no CBOR ends so
        std::fwrite(frame.data(), 1, frame.size(), stdout);
        std::fflush(stdout);
    }
    return 0;
}
