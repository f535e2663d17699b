/// Declares variables for positions in the grid that a kernel computes several times.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/base/skill.h"

#include <vector>

namespace kernelskill::skills {

/// Returns edits that declare `const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;` at the
/// kernel's beginning and that replace this sum by the variable, for each axis along which the
/// kernel computes it several times. The kernel computes the same. Empty if there is no such axis.
[[nodiscard]] std::vector<analysis::TextEdit> namedPositions(const SkillContext& context);

} // namespace kernelskill::skills
