/// The values that scalars can have.
#pragma once

#include "analysis/raise/program.h"

#include <functional>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kernelskill::analysis::raise {

/// The numbers from `low` to `high`.
struct Interval {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    /// A division by 0 stands in it, such as a mean of no elements: it can be NaN although all
    /// inputs are finite.
    bool dividesByZero = false;
};

/// Intervals of the buffers of a program, whatever finite numbers its inputs and weights are.
/// Rounding is allowed for.
class Intervals {
public:
    explicit Intervals(const Program& program);

    [[nodiscard]] const Interval& ofBuffer(BufferId buffer) const { return buffers_.at(buffer); }

private:
    std::vector<Interval> buffers_;
};

/// Intervals of the scalars of one computation. Computations may share scalars, which mean
/// something else in each: what a reduction gives. Both arguments outlive the object.
class ScalarIntervals {
public:
    using BufferIntervals = std::function<const Interval&(BufferId)>;
    ScalarIntervals(BufferIntervals buffers, const Computation& computation)
        : buffers_(std::move(buffers)), computation_(computation) {}
    ScalarIntervals(const Intervals& buffers, const Computation& computation)
        : ScalarIntervals(
              [&buffers](BufferId buffer) -> const Interval& { return buffers.ofBuffer(buffer); },
              computation) {}

    [[nodiscard]] Interval of(const Scalar& value);

private:
    [[nodiscard]] Interval made(const ScalarNode& node);
    [[nodiscard]] Interval ofCall(const ScalarNode& node);
    [[nodiscard]] Interval ofReduction(const Reduction& reduction);

    struct Known {
        Scalar held; ///< So that no other node gets its address.
        Interval interval;
    };
    std::unordered_map<const ScalarNode*, Known> known_;
    BufferIntervals buffers_;
    const Computation& computation_;
};

} // namespace kernelskill::analysis::raise
