/// Locals that are changed once, right behind their declaration, as declarations of what they are.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/base/skill.h"

#include <vector>

namespace kernelskill::skills {

/// Returns edits that turn `int i = threadIdx.x; i += blockIdx.x * blockDim.x;` into
/// `int i = threadIdx.x + blockIdx.x * blockDim.x;`, for all integers and pointers of the kernel
/// that nothing else changes, and keep what the kernel does. Empty: there are none.
[[nodiscard]] std::vector<analysis::TextEdit> settledValues(const SkillContext& context);

} // namespace kernelskill::skills
