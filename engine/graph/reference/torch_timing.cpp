#include "engine/graph/reference/torch_timing.h"

#include <algorithm>
#include <cstddef>

namespace kernelskill::engine::graph {
namespace {

/// The value at a share of the way through sorted values, between two of them if it has to be.
double quantile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

} // namespace

double TorchTiming::median() const {
    auto sorted = microseconds;
    std::ranges::sort(sorted);
    return sorted.empty() ? 0 : quantile(sorted, 0.5);
}

double TorchTiming::spread() const {
    auto sorted = microseconds;
    std::ranges::sort(sorted);
    const double middle = median();
    return middle > 0 ? (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / middle : 0;
}

} // namespace kernelskill::engine::graph
