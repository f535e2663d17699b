/// Declares variables for fields of parameters that loops read.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/base/skill.h"

#include <vector>

namespace kernelskill::skills {

/// Returns edits that declare `const int n2 = shape.n;` at the kernel's beginning, for each integer
/// field of a parameter passed by value that a loop of the kernel reads and that nothing changes,
/// and that replace the field by the variable. The kernel computes the same. Empty if there is no
/// such field.
[[nodiscard]] std::vector<analysis::TextEdit> namedFields(const SkillContext& context);

} // namespace kernelskill::skills
