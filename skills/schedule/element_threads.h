/// Grid-stride loops over independent elements, written as kernels with a thread for each element.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/base/skill.h"

#include <vector>

namespace kernelskill::skills {

/// Returns edits that turn `for (int i = thread; i < n; i += threads) { … }`, which is all that the
/// kernel does, into `int i = thread; if (i < n) { … }`, and that launch a thread for each element;
/// they keep what the kernel does. Empty where rounds are not shown to be independent, where a
/// round depends on the grid or on the thread that runs it, and where the text does not tell what
/// launches pass.
[[nodiscard]] std::vector<analysis::TextEdit> elementThreads(const SkillContext& context);

} // namespace kernelskill::skills
