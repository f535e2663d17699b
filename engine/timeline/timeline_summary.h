/// A program's time on the GPU, by kernel, and the time in which the GPU had nothing to do.
#pragma once

#include "engine/timeline/device_activity.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Times in nanoseconds.
struct KernelTimes {
    std::string name; ///< Demangled.
    std::uint64_t launches = 0;
    std::uint64_t total = 0;
    std::uint64_t shortest = 0;
    std::uint64_t median = 0;
    std::uint64_t longest = 0;
    /// Of the launch that took the most time.
    std::array<std::uint32_t, 3> grid{};
    std::array<std::uint32_t, 3> block{};
    std::uint32_t registers = 0;
    std::uint64_t sharedBytes = 0;
};

/// A row of short launches one after the other on a device, which a CUDA graph would issue at once.
struct LaunchTrain {
    std::uint64_t launches = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t idle = 0; ///< Between its launches.
};

struct DeviceTimes {
    std::uint32_t device = 0;
    std::uint64_t begin = 0;  ///< Of the first activity.
    std::uint64_t end = 0;    ///< Of the last.
    std::uint64_t busy = 0;   ///< With at least one activity.
    std::uint64_t copies = 0; ///< Their times, added; they may lie beside kernels.
    std::uint64_t copiedBytes = 0;
    std::uint64_t kernels = 0; ///< Their times, added.
    LaunchTrain worst; ///< The train with the most idle time; no launches when there is none.
};

struct TimelineSummary {
    std::vector<DeviceTimes> devices; ///< By number.
    std::vector<KernelTimes> kernels; ///< The longest total first.
};

/// A kernel no longer than this is short: launching it takes about as long.
/// The bounds of launch-overhead in engine/diagnosis/thresholds.yaml.
inline constexpr std::uint64_t shortKernel = 10'000;
inline constexpr std::uint64_t minTrainLaunches = 10;

/// `activities` in the order of their begins.
[[nodiscard]] TimelineSummary summaryOf(std::span<const DeviceActivity> activities);

/// The source's spelling of a mangled name, or the name itself.
[[nodiscard]] std::string demangledName(const std::string& name);

} // namespace kernelskill::engine
