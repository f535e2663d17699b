/// Positions in the grid that a kernel asks for again and again, as variables.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/base/skill.h"

#include <vector>

namespace kernelskill::skills {

/// Returns edits that declare `const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;` at the
/// kernel's beginning and name it wherever that sum stands, along each axis along which the kernel
/// has the sum several times. They keep what the kernel does. Empty: there are none.
[[nodiscard]] std::vector<analysis::TextEdit> namedPositions(const SkillContext& context);

} // namespace kernelskill::skills
