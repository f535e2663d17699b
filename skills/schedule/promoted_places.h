/// Keeps elements that searches set in registers.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/base/skill.h"

#include <vector>

namespace kernelskill::skills {

/// Returns edits that let elements which a loop sets, other than by folding into them, live in
/// registers for the time of the loop: `best[i] = 0; for (…) if (…) best[i] = j;`. The kernel
/// computes the same. Empty if there is no such element.
[[nodiscard]] std::vector<analysis::TextEdit> promotedPlaces(const SkillContext& context);

} // namespace kernelskill::skills
