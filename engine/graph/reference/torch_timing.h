/// How long the rounds of a program took.
#pragma once

#include <vector>

namespace kernelskill::engine::graph {

struct TorchTiming {
    std::vector<double> microseconds; ///< One for each round, in order; at least one.
    bool areDeviceTimes = false;      ///< Taken by events of the GPU, not by the wall's clock.

    [[nodiscard]] double median() const;
    /// The difference of the upper and the lower quartile, as a share of the median.
    [[nodiscard]] double spread() const;
};

} // namespace kernelskill::engine::graph
