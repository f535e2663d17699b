/// Compares the times of a program's kernels with those of earlier runs.
#pragma once

#include "engine/timeline/device_activity.h"
#include "engine/whole_program/program_turns.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// A kernel's launches in one run. All times are in microseconds.
struct KernelLaunches {
    std::uint64_t count = 0;
    double total = 0;
    /// The times of launches in their order: of each, or of maxKeptLaunches that are spread over
    /// all. Which ones depends on `count` alone, so that runs with as many launches keep the same.
    std::vector<double> times;
    bool operator==(const KernelLaunches&) const = default;
};

/// A kernel may have a million launches.
inline constexpr std::size_t maxKeptLaunches = 64;

[[nodiscard]] KernelLaunches launchesWith(std::vector<double> times);

/// The launches of each kernel in one run, by the kernel's qualified name: all instantiations of a
/// template together.
using LaunchTimes = std::map<std::string, KernelLaunches>;

[[nodiscard]] LaunchTimes launchTimesOf(std::span<const DeviceActivity> activities);

/// Fewer runs do not tell how much runs of one version differ.
inline constexpr std::size_t minRuns = 3;

/// Whether more runs would not make a comparison surer: there are minRuns, and each kernel with a
/// hotShare of the kernels' time was launched minRounds times.
[[nodiscard]] bool isEnough(std::span<const LaunchTimes> runs);

enum class TimeChange : std::uint8_t {
    Same,   ///< Differs by no more than runNoise, and that is certain.
    Faster, ///< Certain, and by more than runNoise.
    Slower, ///< Certain, and by more than runNoise.
    Unsure, ///< None of these is certain, or runs of one side differ by as much.
    New,    ///< Only the later runs launch it.
    Gone,   ///< Only the earlier runs launched it.
};
/// "same", "faster", "slower", "unsure", "new", "gone"
[[nodiscard]] std::string_view spelling(TimeChange change);

struct KernelTimeChange {
    std::string kernel; ///< The qualified name.
    TimeChange change = TimeChange::Same;
    double before = 0; ///< Median time of a launch in microseconds; 0: it was not launched.
    double after = 0;
    double speedup = 1; ///< Median of before / after, over pairs of launches.
    double least = 1;   ///< The confidence interval of that median.
    double most = 1;
    std::string reason = {}; ///< Why it is Unsure, in one sentence; else empty.
};

/// The n-th launch of a kernel is compared with its n-th launch in another run, by judgeTimes();
/// its whole interval has to be beyond runNoise. If the numbers of launches differ, the sums of the
/// runs are compared instead, and `before` and `after` are medians of these. The kernel that takes
/// longest now comes first; those that are gone come last. Neither side is empty.
[[nodiscard]] std::vector<KernelTimeChange> compareRuns(std::span<const LaunchTimes> before,
                                                        std::span<const LaunchTimes> after);

} // namespace kernelskill::engine
