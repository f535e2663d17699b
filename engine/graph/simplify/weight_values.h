/// Values that depend on weights alone.
#pragma once

#include "analysis/raise/program.h"

#include <string>
#include <vector>

namespace kernelskill::engine::graph {

class WeightValues {
public:
    explicit WeightValues(const analysis::raise::Program& program);

    /// Whether the value can be computed before any input is known. A null value can.
    [[nodiscard]] bool hasAlone(const analysis::raise::Scalar& value) const;
    [[nodiscard]] bool hasAlone(analysis::raise::BufferId buffer) const {
        return isKnown_.at(buffer);
    }

private:
    std::vector<bool> isKnown_; ///< Says of each buffer whether it depends on weights alone.
};

/// The axes of `axes` that stand in the value.
[[nodiscard]] std::vector<analysis::raise::Axis>
axesIn(const analysis::raise::Scalar& value, const std::vector<analysis::raise::Axis>& axes);

/// A name that no buffer has yet.
[[nodiscard]] std::string newBufferName(const analysis::raise::Program& program,
                                        const std::string& base);
/// Describes a new local buffer.
struct NewBuffer {
    std::string name;
    std::vector<std::string> sources;
    analysis::raise::Scalar value;
    std::vector<analysis::raise::Axis> axes;
    /// More axes, of known extents: the value is computed for all their elements in one pass.
    std::vector<analysis::raise::Axis> unrolled;
    std::vector<analysis::raise::Axis> reduced; ///< The sum over them; empty: a map.
};
/// Adds a computation of the buffer before step `before`. Returns a load of it at the place of its
/// axes, `unrolled` last.
[[nodiscard]] analysis::raise::Scalar computedBefore(analysis::raise::Program& program,
                                                     std::size_t before, const NewBuffer& buffer);

} // namespace kernelskill::engine::graph
