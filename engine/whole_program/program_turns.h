/// Times of a program and of its edited version, run in turns.
#pragma once

#include "engine/timeline/timeline_summary.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Two runs of one program may differ by this part of their times.
inline constexpr double runNoise = 0.02;

/// The original's figure and the edited program's, of runs that followed each other.
struct TimePair {
    double before = 0; ///< The time in seconds.
    double after = 0;

    /// Whether both versions have a time.
    [[nodiscard]] bool isMeasured() const { return before > 0 && after > 0; }
    bool operator==(const TimePair&) const = default;
};

/// How many times as fast the edited program is, of the pairs that are measured; the least first.
[[nodiscard]] std::vector<double> ratiosOf(std::span<const TimePair> pairs);

/// The median of the ratios: how many times as fast the edited program is. nullopt without pairs
/// that have a time.
[[nodiscard]] std::optional<double> speedupOf(std::span<const TimePair> pairs);

/// Whether it is faster beyond the noise: by more than 2 % in the median, or in each of several
/// turns.
[[nodiscard]] bool isFaster(std::span<const TimePair> pairs);

/// Whether it is faster by more than 2 % in the median, and faster in each of several turns. This
/// suits times that vary by themselves, as those of the whole program do.
[[nodiscard]] bool isFasterInEachTurn(std::span<const TimePair> pairs);

/// Whether it is slower by more than 2 % in the median, and slower in each turn.
[[nodiscard]] bool isSlower(std::span<const TimePair> pairs);

/// A run of both versions with the timeline.
struct TimelineTurn {
    TimelineSummary before;
    TimelineSummary after;
};

struct ProgramTurns {
    std::vector<TimePair> wall; ///< The whole program, unrecorded.
    std::vector<TimelineTurn> kernels;

    /// All kernels, copies and memsets.
    [[nodiscard]] std::vector<TimePair> gpu() const;
    /// Leaves out of gpu() the copies of a turn in which both versions copy as many bytes: their
    /// times differ by what else uses the bus and the host's memory, not by an edit.
    [[nodiscard]] std::vector<TimePair> gpuWithoutSameCopies() const;
    /// The time from the first work of each GPU to its last, idle times included.
    [[nodiscard]] std::vector<TimePair> spans() const;
    /// All kernels together.
    [[nodiscard]] std::vector<TimePair> ofKernels() const;
    /// The kernel of this qualified name: in the edited program also the kernels that the original
    /// does not launch and whose names are among `added`.
    [[nodiscard]] std::vector<TimePair> ofKernel(const std::string& qualifiedName,
                                                 const std::set<std::string>& added) const;
    /// The kernel with this symbol, as far as both programs launch it.
    [[nodiscard]] std::vector<TimePair> ofSymbol(const std::string& symbol) const;
    /// As ofSymbol(). As ofKernel(), which takes all instantiations together, where the edited
    /// program launches none of this symbol, or other kernels in addition.
    [[nodiscard]] std::vector<TimePair> ofInstantiation(const std::string& symbol,
                                                        const std::set<std::string>& added) const;
};

} // namespace kernelskill::engine
