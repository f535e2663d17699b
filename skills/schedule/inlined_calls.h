/// Device functions with loops, written out where a kernel calls them.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/base/skill.h"

#include <vector>

namespace kernelskill::skills {

/// Returns edits that write out the first function with a loop that the kernel calls in a statement
/// of its own, such as `float sum = dot(a, b, n);`, and keep what the kernel does. The function
/// stands in the kernel's file and returns at its end alone. Its locals get names that the kernel
/// does not have. Call it again on the result for further functions. Empty: there is none.
[[nodiscard]] std::vector<analysis::TextEdit> inlinedCall(const SkillContext& context);

} // namespace kernelskill::skills
