/// Kernels for row programs.
#pragma once

#include "engine/graph/kernels/kernel.h"
#include "engine/graph/kernels/row_program.h"

#include <cstddef>

namespace kernelskill::engine::graph {

/// How a row program is shared out.
struct RowSchedule {
    /// Threads of a row: 1, 32, or those of a block.
    std::size_t threads = 1;
    std::size_t width = 1; ///< Neighbouring elements that a thread takes at a time.
    /// How often a thread takes as many; 0: each pass reads the row again.
    std::size_t keptVectors = 0;
    /// Whether a multiprocessor runs one block at a time, so that the rows that are read again are
    /// still in the L2 cache.
    bool isAloneOnMultiprocessor = false;
};

/// Rows whose elements lie next to each other get a warp or a block, others a thread, so that
/// neighbouring threads read neighbouring elements. What passes read again is kept in registers if
/// there is room.
[[nodiscard]] RowSchedule rowScheduleOf(const analysis::raise::Program& program,
                                        const RowProgram& rows);

[[nodiscard]] Kernel rowKernel(const analysis::raise::Program& program, const RowProgram& rows,
                               const RowSchedule& schedule);

} // namespace kernelskill::engine::graph
