/// Finds the kernels that an edit of one kernel changes as well.
#pragma once

#include "engine/execution/kernel_ref.h"

#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Qualified names of the other kernels of the original's program whose launches differ in the
/// candidate's, or whose code does: a function, macro, type or variable that they use, directly or
/// through others. Those that the candidate lacks are among them. Names are followed as they are
/// spelled, so an unrelated declaration of the same name counts as well. Both programs' models are
/// set. Kernels in `fused`, which other launches replace, count by their code alone, `original`
/// itself too if it is one of them.
[[nodiscard]] std::vector<std::string> otherChangedKernels(KernelRef original, KernelRef candidate,
                                                           const std::set<std::string>& fused = {});

} // namespace kernelskill::engine
