// A runner without a GPU: it answers each request in a way that its input tells, or dies of it.
// Subjects' symbols are its orders: "sleep:MS", "die", "die-once:PATH" (a file that it makes
// first), "fatal", "garbage", "device:MS" (sleeps and tells what it was started with), "gpu:MS"
// (its UUID); it runs the kernel "twice", out[i] = 2 * in[i], and echoes anything else. Its
// environment says what GPUs there are and what they show:
//   GPUS      "H100 9.0,T4 7.5": of the machine, with the UUIDs GPU-0, GPU-1, ...; one by default.
//             $CUDA_VISIBLE_DEVICES chooses among them by CUDA's rule.
//   TIMES     "20,10": microseconds of the first subject, of the second, ...
//   METRICS   "NAME=VALUE ...": what the hardware counts, of what it is asked for.
//   STALLS    "LINE REASON SAMPLES ...", lines from 0, of the file $STALLS_FILE.
//   FORBIDDEN counters may not be read.
//   WRONG     the results of the N-th run, from 1, are wrong.
//   STARTED   a file: it says there that it was started.
#include "engine/execution/buffer_fill.h"
#include "engine/execution/gpu/runner_wire.h"
#include "engine/process/framing.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <ranges>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>

using namespace kernelskill::engine;
using namespace kernelskill::engine::gpu;

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);)
        parts.push_back(part);
    return parts;
}

struct TestGpu {
    std::string uuid;
    std::string name;
    int major = 9;
    int minor = 0;
};

std::vector<TestGpu> machine() {
    std::vector<TestGpu> gpus;
    const std::string listed = variable("GPUS");
    for (const auto& text : split(listed.empty() ? "test runner 9.0" : listed, ',')) {
        const auto space = text.rfind(' ');
        TestGpu gpu{"GPU-" + std::to_string(gpus.size()), text.substr(0, space)};
        std::sscanf(text.c_str() + space, "%d.%d", &gpu.major, &gpu.minor);
        gpus.push_back(std::move(gpu));
    }
    return gpus;
}

/// Parses it as CUDA does: numbers or prefixes of UUIDs, in order, up to the first invalid one.
std::vector<TestGpu> visible() {
    auto all = machine();
    const char* chosen = std::getenv("CUDA_VISIBLE_DEVICES");
    if (chosen == nullptr)
        return all;
    std::vector<TestGpu> gpus;
    for (const auto& word : split(chosen, ',')) {
        const auto found = std::ranges::find_if(all, [&](const TestGpu& gpu) {
            return gpu.uuid.starts_with(word) || gpu.uuid == "GPU-" + word;
        });
        if (found == all.end())
            break;
        gpus.push_back(*found);
    }
    return gpus;
}

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

/// The kernel `twice(const float* in, float* out, int n)`.
std::vector<BufferContents> runTwice(const RunRequest& request, bool isWrong) {
    std::vector<std::vector<float>> buffers;
    std::vector<BufferContents> outputs;
    std::int32_t size = 0;
    const auto& arguments = request.subject.launch.arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (const auto* buffer = std::get_if<BufferSpec>(&arguments[i])) {
            auto& floats = buffers.emplace_back(buffer->elements.value());
            fillBuffer(*buffer, bufferSeed(request.seed, buffer->name), 0,
                       std::as_writable_bytes(std::span(floats)));
        } else {
            std::memcpy(&size, std::get<ScalarSpec>(arguments[i]).bytes.data(), sizeof size);
        }
    }
    auto& out = buffers.at(1);
    for (std::int32_t i = 0; i < size; ++i)
        out.at(i) = (isWrong ? 3.0f : 2.0f) * buffers.at(0).at(i);
    BufferContents contents;
    contents.name = std::get<BufferSpec>(arguments.at(1)).name;
    contents.element = kernelskill::analysis::ScalarKind::Float;
    contents.bytes.resize(out.size() * sizeof(float));
    std::memcpy(contents.bytes.data(), out.data(), contents.bytes.size());
    outputs.push_back(std::move(contents));
    return outputs;
}

TimingAnswer timed(std::size_t subjects, const TimingPlan& plan) {
    const auto times = split(variable("TIMES"), ',');
    TimingAnswer answer;
    answer.before.smMegahertz = answer.after.smMegahertz = 1980;
    for (std::size_t subject = 0; subject < subjects; ++subject) {
        auto& rounds = answer.microseconds.emplace_back();
        for (std::uint32_t round = 0; round < plan.minRounds; ++round)
            rounds.push_back(std::stod(times.at(subject)) * (1 + 1e-4 * (round % 5)));
    }
    return answer;
}

void count(const RunRequest& request, RunAnswer& answer) {
    for (const auto& text : split(variable("METRICS"), ' ')) {
        const auto equals = text.find('=');
        const auto name = text.substr(0, equals);
        if (std::ranges::find(request.metrics, name) != request.metrics.end())
            answer.metrics[name] = std::stod(text.substr(equals + 1));
    }
    if (!request.wantStalls)
        return;
    std::istringstream stalls(variable("STALLS"));
    LineStalls line{variable("STALLS_FILE"), 0, {}};
    std::string reason;
    for (std::uint64_t samples = 0; stalls >> line.line >> reason >> samples;) {
        line.samples = {{"smsp__pcsamp_warps_issue_stalled_" + reason, samples}};
        answer.stalls.push_back(line);
    }
}

/// `runs` counts the launches of all requests.
Answer run(const RunRequest& request, int& runs) {
    RunAnswer answer;
    for (std::uint32_t launch = 0; launch < request.launches; ++launch) {
        const bool isWrong = variable("WRONG") == std::to_string(++runs);
        if (!request.wantOutputs)
            continue;
        auto outputs = runTwice(request, isWrong);
        if (launch == 0)
            answer.outputs = std::move(outputs);
        else if (outputs.at(0).bytes != answer.outputs.at(0).bytes)
            answer.otherOutputs.push_back(std::move(outputs));
    }
    if (request.timing)
        answer.timing = timed(1, *request.timing);
    count(request, answer);
    return answer;
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
    if (std::ranges::any_of(std::array{"sleep:", "device:", "gpu:"},
                            [&](const char* begin) { return order.starts_with(begin); }))
        std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(rest.c_str())));
    RunAnswer answer;
    answer.printed = order + " by " + std::to_string(::getpid());
    return answer;
}

Answer describe(int device, const std::vector<TestGpu>& gpus) {
    if (static_cast<std::size_t>(device) >= gpus.size())
        return FailureAnswer{
            {kernelskill::ErrorKind::Missing, "no usable GPU", {}, "look at nvidia-smi"}, false};
    const TestGpu& gpu = gpus[static_cast<std::size_t>(device)];
    DeviceDescription description;
    description.devices = static_cast<int>(gpus.size());
    description.name = gpu.name;
    description.uuid = gpu.uuid;
    description.capabilityMajor = gpu.major;
    description.capabilityMinor = gpu.minor;
    description.driverVersion = 13'000;
    description.memoryClockMegahertz = 1'000; // with the bus: 128 GB/s
    description.memoryBusBits = 512;
    if (!variable("FORBIDDEN").empty())
        description.profilerProblem = kernelskill::Error{kernelskill::ErrorKind::Missing,
                                                         "counters may not be read",
                                                         {},
                                                         "ask an administrator"};
    return description;
}

} // namespace

int main(int count, char** words) {
    int device = 0;
    for (int i = 1; i < count; ++i) {
        if (const std::string word = words[i]; word.starts_with("--device="))
            device = std::atoi(word.c_str() + 9);
    }
    if (const auto file = variable("STARTED"); !file.empty())
        std::ofstream(file, std::ios::app) << ::getpid() << '\n';
    const auto gpus = visible();
    int runs = 0;
    while (const auto request = readRequest()) {
        Answer answer = CeilingsAnswer{4e12, 4e12, 9e12, 6e13, 3e13};
        bool isGarbage = false;
        if (const auto* job = std::get_if<RunRequest>(&*request)) {
            const std::string& symbol = job->subject.symbol;
            isGarbage = symbol == "garbage";
            answer = symbol.contains("twice") ? run(*job, runs) : obey(symbol);
            if (symbol.starts_with("device:"))
                std::get<RunAnswer>(answer).printed = std::to_string(device);
            if (symbol.starts_with("gpu:"))
                std::get<RunAnswer>(answer).printed = gpus.at(device).uuid;
        } else if (const auto* timing = std::get_if<TimingRequest>(&*request)) {
            answer = timed(timing->subjects.size(), timing->plan);
        } else if (std::holds_alternative<DescribeRequest>(*request)) {
            answer = describe(device, gpus);
        }
        auto frame = encode(answer);
        if (isGarbage)
            frame[wire::frameHeaderBytes + sizeof(std::uint64_t)] = std::byte{0x1c}; // not CBOR
        std::fwrite(frame.data(), 1, frame.size(), stdout);
        std::fflush(stdout);
    }
    return 0;
}
