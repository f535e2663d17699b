/// Kernels for maps that read a tensor along another axis than they write along, such as one that
/// brings an image into channels-last order.
#pragma once

#include "engine/graph/kernels/kernel.h"

#include <optional>

namespace kernelskill::engine::graph {

/// A kernel that loads such tensors as tiles, a row of neighbours at a time, and writes the tiles'
/// columns, so that neighbouring threads load and store neighbours. nullopt if nothing is gained by
/// that: no load of the map goes along another axis, or too few elements lie along one of the two.
[[nodiscard]] std::optional<Kernel> turningKernel(const analysis::raise::Program& program,
                                                  const analysis::raise::Computation& computation);

} // namespace kernelskill::engine::graph
