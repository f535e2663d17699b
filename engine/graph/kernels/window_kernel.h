/// Kernels for pools, depthwise convolutions and other reductions of windows that overlap.
#pragma once

#include "engine/graph/kernels/kernel.h"

#include <optional>

namespace kernelskill::engine::graph {

/// Writes a kernel in which a thread computes neighbouring results along an axis that is not the
/// innermost one, and keeps in registers what their windows share. nullopt if that gains nothing:
/// along each such axis, windows share little.
[[nodiscard]] std::optional<Kernel> windowKernel(const analysis::raise::Program& program,
                                                 const analysis::raise::Computation& computation);

} // namespace kernelskill::engine::graph
