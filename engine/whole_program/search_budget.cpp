#include "engine/whole_program/search_budget.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace kernelskill::engine {

double savingAtMost(const std::optional<MeasuredRoofline>& measured, const Bottleneck& bottleneck) {
    constexpr double least = 0.05; // Rooflines and models err.
    double headroom = 1;
    if (measured)
        headroom = 1 - measured->percent() / 100;
    else if (bottleneck.gain && bottleneck.gain->factor.high >= 1)
        headroom = 1 - 1 / bottleneck.gain->factor.high;
    return std::clamp(headroom, least, 1.0);
}

std::size_t searchableKernels(std::chrono::seconds budget) {
    return static_cast<std::size_t>(std::max<std::int64_t>(1, budget / minSearchTime));
}

std::chrono::seconds leastSearchTime(std::size_t kernels, std::chrono::seconds budget) {
    constexpr std::chrono::seconds most{5};
    const auto alike = budget / (2 * static_cast<std::int64_t>(std::max<std::size_t>(kernels, 1)));
    return std::clamp(alike, minSearchTime, most);
}

std::chrono::seconds timeForNext(std::span<const double> weights, std::chrono::seconds left,
                                 std::chrono::seconds least) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    const double part = sum > 0 ? weights.front() / sum : 1;
    const std::chrono::seconds fair(
        static_cast<std::int64_t>(part * static_cast<double>(left.count())));
    const auto ofOthers = least * (std::ssize(weights) - 1);
    return std::max(std::min(fair, left - ofOthers), least);
}

} // namespace kernelskill::engine
