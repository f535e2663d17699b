#include "engine/review/timing_verdict.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kernelskill::engine {
namespace {

/// No noise makes a kernel take so many times its time in each of a few rounds.
constexpr double plainlySlower = 3;
constexpr double mistaken = 1e-4; // The chance that the interval misses, both ends together.

/// The quantile `part` of sorted values, interpolated between neighbours.
double quantile(const std::vector<double>& sorted, double part) {
    const double place = part * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const auto above = std::min(below + 1, sorted.size() - 1);
    const double share = place - static_cast<double>(below);
    return sorted[below] * (1 - share) + sorted[above] * share;
}

std::vector<double> sortedCopy(std::span<const double> values) {
    std::vector<double> sorted(values.begin(), values.end());
    std::ranges::sort(sorted);
    return sorted;
}

/// How many of the smallest (and of the largest) of `count` values the interval leaves out. The
/// chance that the median lies among them equals the chance of that few heads in `count` tosses.
std::size_t leftOut(std::size_t count) {
    double chance = std::exp2(-static_cast<double>(count)); // The chance of no heads.
    double sum = 0;
    for (std::size_t heads = 0; heads < count; ++heads) {
        sum += chance;
        if (2 * sum > mistaken)
            return heads;
        chance *= static_cast<double>(count - heads) / static_cast<double>(heads + 1);
    }
    return 0;
}

/// `mostRatio` is the largest of original / candidate of a round.
VerdictStatus statusOf(const TimingVerdict& verdict, double mostRatio,
                       std::optional<double> floor) {
    if (floor && verdict.candidate.median < *floor)
        return VerdictStatus::Invalid;
    if (verdict.candidate.rounds < minRounds)
        return mostRatio < 1 / plainlySlower ? VerdictStatus::Slower : VerdictStatus::Inconclusive;
    if (verdict.least > 1 + minEffect)
        return VerdictStatus::Faster;
    if (verdict.most < 1 / (1 + minEffect))
        return VerdictStatus::Slower;
    return VerdictStatus::Inconclusive;
}

} // namespace

TimeSummary summarise(std::span<const double> values) {
    const auto sorted = sortedCopy(values);
    return {quantile(sorted, 0.5), quantile(sorted, 0.25), quantile(sorted, 0.75), sorted.size()};
}

TimingVerdict judgeTimes(std::span<const double> original, std::span<const double> candidate,
                         std::optional<double> floorMicroseconds) {
    TimingVerdict verdict;
    const auto rounds = std::min(original.size(), candidate.size());
    if (rounds == 0)
        return verdict;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < rounds; ++i)
        ratios.push_back(original[i] / candidate[i]);
    std::ranges::sort(ratios);
    const auto outside = leftOut(rounds);
    verdict.speedup = quantile(ratios, 0.5);
    verdict.least = ratios[outside];
    verdict.most = ratios[rounds - 1 - outside];
    verdict.original = summarise(original.first(rounds));
    verdict.candidate = summarise(candidate.first(rounds));
    verdict.status = statusOf(verdict, ratios.back(), floorMicroseconds);
    verdict.sentence = fmt::format(
        "{:.4g} µs before, {:.4g} µs after (medians of {} rounds; quartiles {:.4g} to {:.4g} and "
        "{:.4g} to {:.4g}): {:.3g} times as fast, between {:.3g} and {:.3g} with 99.99 % "
        "confidence",
        verdict.original.median, verdict.candidate.median, rounds, verdict.original.lower,
        verdict.original.upper, verdict.candidate.lower, verdict.candidate.upper, verdict.speedup,
        verdict.least, verdict.most);
    if (verdict.status == VerdictStatus::Invalid)
        verdict.sentence += fmt::format("; its traffic alone takes {:.4g} µs on this GPU, so it "
                                        "cannot have done the work",
                                        *floorMicroseconds);
    return verdict;
}

bool mayBeFaster(const TimingVerdict& verdict) {
    return verdict.status == VerdictStatus::Inconclusive && verdict.speedup > 1 + 2 * minEffect;
}

} // namespace kernelskill::engine
