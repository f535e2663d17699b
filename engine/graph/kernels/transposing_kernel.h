/// Kernels for maps that read a tensor along another axis than they write along, such as one that
/// brings an image into channels-last order.
#pragma once

#include "engine/graph/kernels/kernel.h"

#include <optional>

namespace kernelskill::engine::graph {

/// Writes a kernel that loads tiles of such tensors into shared memory, a row at a time, and stores
/// the tiles' columns, so that neighbouring threads load and store neighbouring elements. nullopt
/// if that gains nothing: no load of the map goes along another axis, or one of the two axes is
/// short.
[[nodiscard]] std::optional<Kernel>
transposingKernel(const analysis::raise::Program& program,
                  const analysis::raise::Computation& computation);

} // namespace kernelskill::engine::graph
