/// Finds indices that an edit multiplies in 32 bits where the original does so in 64:
/// `x[row * width]` for `x[(size_t)row * width]`.
#pragma once

#include "engine/review/narrowed_values.h"

#include <vector>

namespace kernelskill::engine {

/// Products of 32 bits that may wrap around, in positions of arrays for which the kernel multiplies
/// in 64 bits less often than the original, and in 32 bits more often. Positions are followed
/// through local variables and pointers, in the kernel and in each function of its file that it
/// calls.
[[nodiscard]] std::vector<NarrowedValue>
narrowedProducts(const analysis::FileModel& original, const analysis::KernelModel& originalKernel,
                 const analysis::FileModel& candidate, const analysis::KernelModel& kernel);

} // namespace kernelskill::engine
