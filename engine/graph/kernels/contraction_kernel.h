/// Kernels for contractions: tiles of both factors pass through shared memory, and each thread
/// keeps a part of the block's tile of results in registers.
#pragma once

#include "engine/graph/kernels/contraction_schedule.h"
#include "engine/graph/kernels/kernel.h"

namespace kernelskill::engine::graph {

/// The kernel of a contraction with that tile. Its results pass through what the computation's
/// stores make of them; factors are loaded with their guards and computed where they are no plain
/// elements of a buffer.
[[nodiscard]] Kernel tiledContraction(const analysis::raise::Program& program,
                                      const Contraction& contraction, const ContractionTile& tile);

} // namespace kernelskill::engine::graph
