/// Fields of parameters that loops ask for, as variables.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/base/skill.h"

#include <vector>

namespace kernelskill::skills {

/// Returns edits that declare `const int n2 = shape.n;` at the kernel's beginning, for each integer
/// field of a parameter passed by value that a loop of the kernel asks for and that nothing
/// changes, and name it wherever the field stands. They keep what the kernel does. Empty: there are
/// none.
[[nodiscard]] std::vector<analysis::TextEdit> namedFields(const SkillContext& context);

} // namespace kernelskill::skills
