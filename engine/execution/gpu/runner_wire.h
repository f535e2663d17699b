/// The messages between the server and `kernelskill-runner`: one frame each, with one answer to
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

/// A kernel as machine code with its launch.
struct Subject {
    std::string cubin;
    std::string symbol;
    LaunchSpec launch; ///< Every buffer has its number of elements.
};

struct DescribeRequest {};

/// How to time. A round runs every subject once, in alternating order. Before each run its buffers
/// are restored and the L2 cache is swept.
struct TimingPlan {
    std::uint32_t warmUpRounds = 5;
    std::uint32_t minRounds = 20;
    std::uint32_t maxRounds = 200;
    std::chrono::milliseconds budget{1'500}; ///< The time for rounds after minRounds.
    /// No round begins after so long, except for one that warms up and one that is timed. For
    /// launches of which minRounds would take too long.
    std::chrono::milliseconds longest{60'000};
    bool sweepCache = true;
    /// Timing ends after minRounds if one of two subjects was this many times as fast as the other
    /// in each round; 0: it does not.
    double clearRatio = 0;
};

struct RunRequest {
    Subject subject;
    std::uint64_t seed = 1;
    bool wantOutputs = false;
    std::uint32_t launches = 1; ///< One after the other, on equal input.
    /// Nsight Compute's names; if empty, the profiler is not used.
    std::vector<std::string> metrics;
    bool wantStalls = false;          ///< Sample program counters with their stall reasons.
    std::optional<TimingPlan> timing; ///< If set, time it as well, on the same buffers.
    std::chrono::milliseconds time{10'000};
};

struct TimingRequest {
    std::vector<Subject> subjects;
    std::uint64_t seed = 1;
    TimingPlan plan;
    std::chrono::milliseconds time{30'000};
};

/// Requests the device's maximum throughput, measured with the runner's own kernels.
struct CeilingsRequest {};

using Request = std::variant<DescribeRequest, RunRequest, TimingRequest, CeilingsRequest>;

/// The time limit of the request.
[[nodiscard]] std::chrono::milliseconds timeLimit(const Request& request);

struct DeviceDescription {
    int devices = 0; ///< Devices that CUDA sees, including this one.
    std::string name;
    std::string uuid; ///< "GPU-…", as nvidia-smi shows it.
    int capabilityMajor = 0;
    int capabilityMinor = 0;
    int driverVersion = 0; ///< The newest CUDA version that the driver supports, 13000 for 13.0.
    std::uint32_t multiprocessors = 0;
    std::uint64_t l2Bytes = 0;
    std::uint64_t memoryBytes = 0;
    std::uint32_t smClockMegahertz = 0; ///< The maximum.
    std::uint32_t memoryClockMegahertz = 0;
    std::uint32_t memoryBusBits = 0;
    std::optional<Error> profilerProblem; ///< Why hardware counters cannot be read.
};

/// The samples of one source line, by CUPTI's stall reason.
struct LineStalls {
    std::string file;
    std::uint32_t line = 0; ///< Zero-based.
    std::map<std::string, std::uint64_t> samples;
};

struct Clocks {
    std::uint32_t smMegahertz = 0; ///< 0 if unknown.
    std::uint32_t memoryMegahertz = 0;
    std::uint32_t temperatureCelsius = 0;
    std::uint64_t throttleReasons = 0; ///< NVML's bits.
};

struct TimingAnswer {
    /// For each subject, the microseconds of each round.
    std::vector<std::vector<double>> microseconds;
    Clocks before;
    Clocks after;
    /// Whether the times are those of the kernels alone. Else they hold a part of the launch, which
    /// makes a kernel of 2 microseconds look like one of 7.
    bool areDurations = false;
};

struct RunAnswer {
    std::vector<BufferContents> outputs; ///< Of the first launch.
    /// The outputs of each later launch whose bits are not those of the first.
    std::vector<std::vector<BufferContents>> otherOutputs;
    std::string printed;
    Metrics metrics;
    std::uint32_t passes = 0; ///< The passes that the profiler needed.
    std::vector<LineStalls> stalls;
    std::optional<TimingAnswer> timing;
    std::vector<std::string> notes;
};

struct CeilingsAnswer {
    double copyBytesPerSecond = 0; ///< Read plus written.
    double readBytesPerSecond = 0;
    double l2BytesPerSecond = 0;
    double float32PerSecond = 0; ///< Floating-point operations; a fused one counts as two.
    double float64PerSecond = 0;
};

struct FailureAnswer {
    Error error;
    /// The context is lost, and the runner with it: start another one.
    bool isFatal = false;
};

using Answer =
    std::variant<DeviceDescription, RunAnswer, TimingAnswer, CeilingsAnswer, FailureAnswer>;

/// Whole frames with their length.
[[nodiscard]] std::vector<std::byte> encode(const Request& request);
[[nodiscard]] std::vector<std::byte> encode(const Answer& answer);

/// Reads a frame's payload. Returns an Internal error for malformed data.
[[nodiscard]] Result<Request> decodeRequest(std::span<const std::byte> payload);
[[nodiscard]] Result<Answer> decodeAnswer(std::span<const std::byte> payload);

} // namespace kernelskill::engine::gpu
