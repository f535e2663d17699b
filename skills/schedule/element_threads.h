/// Writes grid-stride loops over independent elements as kernels with a thread for each element.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/base/skill.h"

#include <vector>

namespace kernelskill::skills {

/// Returns edits that turn `for (int i = thread; i < n; i += threads) { … }`, which is all that the
/// kernel does, into `int i = thread; if (i < n) { … }`, and that launch a thread for each element;
/// the kernel computes the same. Empty if rounds may depend on each other, on the grid or on the
/// thread that runs them, or if the host code cannot compute `n` at a launch.
[[nodiscard]] std::vector<analysis::TextEdit> elementThreads(const SkillContext& context);

} // namespace kernelskill::skills
