/// The values that scalars can have.
#pragma once

#include "analysis/raise/program.h"

#include <limits>
#include <optional>
#include <unordered_map>
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

/// Intervals of the scalars of a program, whatever finite numbers its inputs and weights are.
/// Rounding is allowed for.
class Intervals {
public:
    explicit Intervals(const Program& program);

    [[nodiscard]] Interval of(const Scalar& value, const Computation& computation);
    [[nodiscard]] Interval ofBuffer(BufferId buffer) const { return buffers_.at(buffer); }

private:
    [[nodiscard]] Interval made(const ScalarNode& node, const Computation& computation);
    [[nodiscard]] Interval ofCall(const ScalarNode& node, const Computation& computation);
    [[nodiscard]] Interval ofReduction(const Reduction& reduction, const Computation& computation);

    struct Known {
        Scalar held; ///< So that no other node gets its address.
        Interval interval;
    };
    std::unordered_map<const ScalarNode*, Known> known_; ///< The nodes of one computation.
    const Computation* computation_ = nullptr;
    std::vector<Interval> buffers_;
};

} // namespace kernelskill::analysis::raise
