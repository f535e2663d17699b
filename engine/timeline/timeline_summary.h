/// Summarises a program's time on the GPU, by kernel, and the GPU's idle time.
#pragma once

#include "engine/timeline/device_activity.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// All times in nanoseconds.
struct KernelTimes {
    std::string symbol; ///< The mangled name.
    std::string name;   ///< The demangled name.
    std::uint64_t launches = 0;
    std::uint64_t total = 0;
    std::uint64_t shortest = 0;
    std::uint64_t median = 0;
    std::uint64_t longest = 0;
    /// The configuration of the launch that took longest.
    std::array<std::uint32_t, 3> grid{};
    std::array<std::uint32_t, 3> block{};
    std::uint32_t registers = 0;
    std::uint64_t sharedBytes = 0;
};

/// A sequence of short launches on a device, which a CUDA graph would issue at once.
struct LaunchTrain {
    std::uint64_t launches = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t idle = 0; ///< Idle time between its launches.
};

struct DeviceTimes {
    std::uint32_t device = 0;
    std::uint64_t begin = 0;  ///< Begin of the first activity.
    std::uint64_t end = 0;    ///< End of the last activity.
    std::uint64_t busy = 0;   ///< Time with at least one activity.
    std::uint64_t copies = 0; ///< Sum of their times; they may overlap with kernels.
    std::uint64_t copiedBytes = 0;
    std::uint64_t sets = 0;    ///< Sum of the times of memsets.
    std::uint64_t kernels = 0; ///< Sum of their times.
    LaunchTrain worst; ///< The train with the most idle time; has no launches if there is none.

    [[nodiscard]] std::uint64_t span() const { return end - begin; }
    [[nodiscard]] std::uint64_t idle() const { return span() - busy; }
};

struct TimelineSummary {
    std::vector<DeviceTimes> devices; ///< Sorted by number.
    std::vector<KernelTimes> kernels; ///< Sorted by total time, longest first.

    /// The sum of the times of all kernels, copies and memsets.
    [[nodiscard]] std::uint64_t gpuTime() const;
    /// The sum of the times of all kernels.
    [[nodiscard]] std::uint64_t kernelTime() const;
};

/// A kernel of at most this time is short, because launching it takes about as long. Same as the
/// threshold of launch-overhead in engine/diagnosis/thresholds.yaml.
inline constexpr std::uint64_t shortKernel = 10'000;
inline constexpr std::uint64_t minTrainLaunches = 10;

/// `activities` are sorted by their begin.
[[nodiscard]] TimelineSummary summaryOf(std::span<const DeviceActivity> activities);

/// The source's spelling of a mangled name; else the name itself.
[[nodiscard]] std::string demangledName(const std::string& name);

} // namespace kernelskill::engine
