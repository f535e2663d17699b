/// Decides from times whether one kernel is faster than another.
#pragma once

#include "engine/verdict/verdict.h"

#include <optional>
#include <span>
#include <string>

namespace kernelskill::engine {

/// Times of one kernel, in microseconds, or ratios of times.
struct TimeSummary {
    double median = 0;
    double lower = 0; ///< The lower quartile; `upper` is the upper one.
    double upper = 0;
    std::size_t rounds = 0;
};

/// `values` must not be empty.
[[nodiscard]] TimeSummary summarise(std::span<const double> values);

struct TimingVerdict {
    VerdictStatus status = VerdictStatus::Inconclusive; ///< Faster, Slower, Inconclusive, Invalid
    double speedup = 1; ///< Median over rounds of original / candidate.
    double least = 1;   ///< The lower end of that median's confidence interval.
    double most = 1;
    TimeSummary original;
    TimeSummary candidate;
    std::string sentence; ///< Contains all of these numbers.
};

/// Both kernels ran in each round, one after the other, so each round gives a ratio. The confidence
/// interval of the median ratio is that of the sign test at 99.99 %, which assumes no distribution.
/// Faster if the whole interval is above 1 + `minEffect`, Slower if it is below the inverse.
/// Invalid if the candidate's median is below `floorMicroseconds`, the minimum time that its memory
/// traffic takes on this GPU: then it cannot have done the work. With fewer than `minRounds`
/// rounds, Slower if the candidate takes more than three times as long in each, and else
/// Inconclusive.
[[nodiscard]] TimingVerdict judgeTimes(std::span<const double> original,
                                       std::span<const double> candidate,
                                       std::optional<double> floorMicroseconds);

/// Whether more rounds may decide that the candidate is faster: its median is, by enough, but not
/// the whole interval.
[[nodiscard]] bool mayBeFaster(const TimingVerdict& verdict);

inline constexpr double minEffect = 0.01;
inline constexpr std::size_t minRounds = 16;

} // namespace kernelskill::engine
