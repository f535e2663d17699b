/// What the server and `kernelskill-runner` say to each other: one frame a message, an answer to
/// each request.
#pragma once

#include "analysis/source/error.h"
#include "engine/execution/job.h"
#include "engine/execution/profile.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace kernelskill::engine::gpu {

/// A kernel as machine code, and how to launch it.
struct Subject {
    std::string cubin;
    std::string symbol;
    LaunchSpec launch; ///< Every buffer with its number of elements.
};

struct DescribeRequest {};

/// How to time: a round runs every subject once, in an order that alternates, each after its
/// buffers were restored and the L2 cache was swept.
struct TimingPlan {
    std::uint32_t warmUpRounds = 5;
    std::uint32_t minRounds = 20;
    std::uint32_t maxRounds = 200;
    std::chrono::milliseconds budget{1'500}; ///< Of the rounds after minRounds.
    bool sweepCache = true;
};

struct RunRequest {
    Subject subject;
    std::uint64_t seed = 1;
    bool wantOutputs = false;
    std::vector<std::string> metrics; ///< Nsight Compute's names; empty: the profiler stays off.
    bool wantStalls = false;          ///< Sample program counters with their stall reasons.
    std::optional<TimingPlan> timing; ///< Time it as well, on the same buffers.
    std::chrono::milliseconds time{10'000};
};

struct TimingRequest {
    std::vector<Subject> subjects;
    std::uint64_t seed = 1;
    TimingPlan plan;
    std::chrono::milliseconds time{30'000};
};

/// Asks what this device reaches at best, measured with kernels of the runner's own.
struct CeilingsRequest {};

using Request = std::variant<DescribeRequest, RunRequest, TimingRequest, CeilingsRequest>;

/// How long the runner may work on it.
[[nodiscard]] std::chrono::milliseconds timeLimit(const Request& request);

struct DeviceDescription {
    int devices = 0; ///< That CUDA sees, this one included.
    std::string name;
    std::string uuid; ///< "GPU-…", as nvidia-smi has it
    int capabilityMajor = 0;
    int capabilityMinor = 0;
    int driverVersion = 0; ///< 13000: the newest CUDA that the driver knows
    std::uint32_t multiprocessors = 0;
    std::uint64_t l2Bytes = 0;
    std::uint64_t memoryBytes = 0;
    std::uint32_t smClockMegahertz = 0; ///< Highest.
    std::uint32_t memoryClockMegahertz = 0;
    std::uint32_t memoryBusBits = 0;
    std::optional<Error> profilerProblem; ///< Why hardware counters cannot be read.
};

/// Samples of one source line, by stall reason as CUPTI names it.
struct LineStalls {
    std::string file;
    std::uint32_t line = 0; ///< Zero-based.
    std::map<std::string, std::uint64_t> samples;
};

struct Clocks {
    std::uint32_t smMegahertz = 0; ///< 0: not known.
    std::uint32_t memoryMegahertz = 0;
    std::uint32_t temperatureCelsius = 0;
    std::uint64_t throttleReasons = 0; ///< NVML's bits.
};

struct TimingAnswer {
    /// Of each subject, microseconds of each round.
    std::vector<std::vector<double>> microseconds;
    Clocks before;
    Clocks after;
};

struct RunAnswer {
    std::vector<BufferContents> outputs;
    std::string printed;
    Metrics metrics;
    std::uint32_t passes = 0; ///< That the profiler needed.
    std::vector<LineStalls> stalls;
    std::optional<TimingAnswer> timing;
    std::vector<std::string> notes;
};

struct CeilingsAnswer {
    double copyBytesPerSecond = 0; ///< Read and written.
    double readBytesPerSecond = 0;
    double l2BytesPerSecond = 0;
    double float32PerSecond = 0; ///< Floating-point operations; a fused one counts as two.
    double float64PerSecond = 0;
};

struct FailureAnswer {
    Error error;
    /// The context is lost, and with it the runner: start another.
    bool isFatal = false;
};

using Answer =
    std::variant<DeviceDescription, RunAnswer, TimingAnswer, CeilingsAnswer, FailureAnswer>;

/// Whole frames.
[[nodiscard]] std::vector<std::byte> encode(const Request& request);
[[nodiscard]] std::vector<std::byte> encode(const Answer& answer);

/// From a frame's payload. Internal error for anything malformed.
[[nodiscard]] Result<Request> decodeRequest(std::span<const std::byte> payload);
[[nodiscard]] Result<Answer> decodeAnswer(std::span<const std::byte> payload);

} // namespace kernelskill::engine::gpu
