/// Kernels in which a thread computes one element of the results, or some neighbouring ones.
#pragma once

#include "engine/graph/kernels/kernel.h"

#include <cstdint>

namespace kernelskill::engine::graph {

/// A kernel for any computation that is no scan: a thread runs the reductions of its element in
/// loops. A map whose stores are contiguous gives each thread 16 bytes of them, loaded and stored
/// by one instruction where a buffer is read in the same order.
[[nodiscard]] Kernel elementKernel(const analysis::raise::Program& program,
                                   const analysis::raise::Computation& computation);

} // namespace kernelskill::engine::graph
