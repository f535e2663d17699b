/// How a kernel divides its work among blocks and their threads.
#pragma once

#include "engine/inputs/launch_inference.h"

namespace kernelskill::engine {

/// Whether the grid's size decides which elements the kernel's threads reach, as far as its own
/// text tells. Else each block has work of its own, which its threads share.
[[nodiscard]] bool followsGrid(const analysis::KernelModel& kernel);

/// Whether the kernel has a loop in steps of the whole grid, so that any grid does all of the
/// loop's work.
[[nodiscard]] bool loopsOverGrid(const analysis::KernelModel& kernel);

/// Whether no thread of a block takes notice of the others.
[[nodiscard]] bool hasIndependentThreads(KernelInFile subject);

} // namespace kernelskill::engine
