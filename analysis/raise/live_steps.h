/// Removes the steps that a program does not need, and orders the others so that buffers live
/// shortly. Buffers keep their numbers: one that no step writes or reads needs no memory.
#pragma once

#include "analysis/raise/program.h"

#include <vector>

namespace kernelskill::analysis::raise {

/// Leaves out stores that nothing reads, reductions that no store needs, and steps without either.
/// Outputs are read.
[[nodiscard]] Program withoutDeadSteps(Program program);

/// Puts steps close behind what they need, so that buffers live shortly.
[[nodiscard]] Program inShortLivedOrder(Program program);

/// The most bytes that local buffers hold at one time, if each lives from its first store to its
/// last read. An estimate where sizes are not known.
[[nodiscard]] double peakBytes(const Program& program);

/// Whether a step reads or writes each buffer, or the caller hands it in or takes it.
[[nodiscard]] std::vector<bool> usedBuffers(const Program& program);

/// Puts each step behind all that it needs, and leaves the others where they are.
[[nodiscard]] Program inOrderOfNeeds(Program program);

} // namespace kernelskill::analysis::raise
