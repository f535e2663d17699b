/// Kernels for pools, depthwise convolutions and other reductions of windows that overlap.
#pragma once

#include "engine/graph/kernels/kernel.h"

#include <optional>

namespace kernelskill::engine::graph {

/// Writes a kernel in which a block copies all that the windows of its results reach to shared
/// memory, padding included, and reduces the windows there. nullopt if that gains nothing: windows
/// share little, or results are few.
[[nodiscard]] std::optional<Kernel> windowKernel(const analysis::raise::Program& program,
                                                 const analysis::raise::Computation& computation);

} // namespace kernelskill::engine::graph
