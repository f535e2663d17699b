/// A window over the results of a convolution, as a wider kernel of the convolution.
#pragma once

#include "analysis/raise/program.h"
#include "engine/graph/simplify/guarded_sum.h"

#include <optional>
#include <vector>

namespace kernelskill::engine::graph {

/// A window over a convolution, as one wider kernel: the element that the convolution reads depends
/// on the place in the window and the place in its kernel only by a place in the wider kernel.
struct JoinedKernel {
    analysis::raise::Axis kernel; ///< The axis of the kernel that goes with the window's.
    analysis::raise::Axis wide;   ///< The axis of the wider kernel.
    GuardedLoad input;            ///< Indexed by `wide` in the place of the two axes.
    /// Whether the places of the wider kernel and of the kernel have one in the window.
    analysis::raise::Scalar condition;
};

/// Joins the axis `window` of the input with one of `kernels`; nullopt if none goes with it.
[[nodiscard]] std::optional<JoinedKernel>
joinedKernel(const GuardedLoad& input, const analysis::raise::Axis& window,
             const std::vector<analysis::raise::Axis>& kernels, analysis::raise::Program& program);

} // namespace kernelskill::engine::graph
