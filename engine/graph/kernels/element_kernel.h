/// Kernels in which a thread computes one element of the results, or some neighbouring ones.
#pragma once

#include "engine/graph/kernels/kernel.h"

#include <cstddef>

namespace kernelskill::engine::graph {

/// Says how a map that loads and stores vectors shares them out among threads.
struct ElementSchedule {
    std::size_t threads = 256; ///< The number of threads of a block.
    /// The number of vectors of a thread, a block's threads apart. All are loaded before the first
    /// is computed.
    std::size_t vectors = 1;
};

/// Returns the schedule of a map. One with many elements whose functions take long gives a thread
/// two vectors, so that the loads of the second are under way meanwhile.
[[nodiscard]] ElementSchedule elementScheduleFor(const analysis::raise::Program& program,
                                                 const analysis::raise::Computation& computation);

/// A kernel for any computation that is no scan: a thread runs the reductions of its element in
/// loops. A map whose stores are contiguous gives each thread 16 bytes of them, loaded and stored
/// by one instruction where a buffer is read in the same order. The schedule is that of such maps.
[[nodiscard]] Kernel elementKernel(const analysis::raise::Program& program,
                                   const analysis::raise::Computation& computation,
                                   const ElementSchedule& schedule);

} // namespace kernelskill::engine::graph
