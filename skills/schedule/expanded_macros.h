/// Writes out the macros that a kernel uses.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/base/skill.h"

#include <vector>

namespace kernelskill::skills {

/// Returns edits that write out the macros of the kernel's file that the kernel uses, but for those
/// that stand for a single token, such as a number. Left as they are: macros that are defined
/// several times, that paste or quote tokens, or that have any number of arguments.
[[nodiscard]] std::vector<analysis::TextEdit> expandedMacros(const SkillContext& context);

} // namespace kernelskill::skills
