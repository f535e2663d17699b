/// Sums of guarded loads over an axis, as sums over what is loaded.
#pragma once

#include "analysis/raise/program.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// A load where all conditions hold, and 0 elsewhere.
struct GuardedLoad {
    std::vector<analysis::raise::Scalar> conditions;
    analysis::raise::Scalar load;
};
/// nullopt if the value is something else.
[[nodiscard]] std::optional<GuardedLoad> guardedLoad(const analysis::raise::Scalar& value);
/// The value again.
[[nodiscard]] analysis::raise::Scalar valueOf(const GuardedLoad& guarded);

/// A sum of a value over axes.
struct AxisSum {
    analysis::raise::Scalar value;
    std::vector<analysis::raise::Axis> reduced;
};
/// The sum of a guarded load over `axis`, as one over the elements that it loads: fewer, where the
/// guard holds for each second element as in a transposed convolution with a stride; and the load
/// is the same for all places of a kernel, which only the guard tells apart then. nullopt if the
/// place that is loaded does not rise with the axis, or if there are far more of them.
[[nodiscard]] std::optional<AxisSum> overLoaded(const analysis::raise::Scalar& value,
                                                const analysis::raise::Axis& axis,
                                                analysis::raise::Program& program);

/// Whether 0 <= at < bound and the like are known to hold, or not to: decided by the bounds of
/// positions.
[[nodiscard]] analysis::raise::Scalar withDecidedGuards(const analysis::raise::Scalar& value);

} // namespace kernelskill::engine::graph
