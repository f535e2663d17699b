/// The rule that says whether one kernel is faster than another.
#pragma once

#include "engine/verdict/verdict.h"

#include <optional>
#include <span>
#include <string>

namespace kernelskill::engine {

/// Times of one kernel, in microseconds.
struct TimeSummary {
    double median = 0;
    double lower = 0; ///< Quartiles.
    double upper = 0;
    std::size_t rounds = 0;
};

/// Of at least one time.
[[nodiscard]] TimeSummary summarise(std::span<const double> microseconds);

struct TimingVerdict {
    VerdictStatus status = VerdictStatus::Inconclusive; ///< Faster, Slower, Inconclusive, Invalid
    double speedup = 1; ///< Median over rounds of original / candidate.
    double least = 1;   ///< Of the confidence interval of that median.
    double most = 1;
    TimeSummary original;
    TimeSummary candidate;
    std::string sentence; ///< With all of these numbers.
};

/// Both ran in each round, one after the other, so each round gives a ratio. The interval of its
/// median is that of the sign test at 99.99 %, which assumes nothing of how times are distributed.
/// Faster when all of it is above 1 + `minEffect`, slower when all is below its inverse.
/// Invalid when the candidate's median is below `floorMicroseconds`, the least that its traffic
/// takes on this GPU: it cannot have done the work. Inconclusive with fewer than `minRounds`.
[[nodiscard]] TimingVerdict judgeTimes(std::span<const double> original,
                                       std::span<const double> candidate,
                                       std::optional<double> floorMicroseconds);

inline constexpr double minEffect = 0.01;
inline constexpr std::size_t minRounds = 16;

} // namespace kernelskill::engine
