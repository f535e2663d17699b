/// Kernels for scans: running sums, products and the like along an axis.
#pragma once

#include "engine/graph/kernels/kernel.h"

namespace kernelskill::engine::graph {

/// A kernel for a scan. If it runs along the last axis, and combines one value, a block scans a
/// row, a tile at a time; else a thread runs along each row.
[[nodiscard]] Kernel scanKernel(const analysis::raise::Program& program,
                                const analysis::raise::Computation& computation);

} // namespace kernelskill::engine::graph
