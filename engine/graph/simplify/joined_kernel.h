/// A window over the results of a convolution, as a wider kernel of the convolution.
#pragma once

#include "analysis/raise/program.h"
#include "engine/graph/simplify/guarded_sum.h"

#include <optional>
#include <vector>

namespace kernelskill::engine::graph {

/// What a convolution reads for one place of the window and one of its kernel depends on both
/// together: on one place of the wider kernel.
struct JoinedKernel {
    analysis::raise::Axis kernel; ///< The axis of the kernel that goes with the window's.
    analysis::raise::Axis wide;   ///< The axis of the wider kernel.
    GuardedLoad input;            ///< Over `wide` instead of the two.
    /// Whether the places of the wider kernel and of the kernel have one in the window.
    analysis::raise::Scalar condition;
};

/// Joins the axis `window` of the input with one of `kernels`; nullopt if none goes with it.
[[nodiscard]] std::optional<JoinedKernel>
joinedKernel(const GuardedLoad& input, const analysis::raise::Axis& window,
             const std::vector<analysis::raise::Axis>& kernels, analysis::raise::Program& program);

} // namespace kernelskill::engine::graph
