/// Places in memory that a sum with a pointer tells, as elements of arrays.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/base/skill.h"

#include <vector>

namespace kernelskill::skills {

/// Returns edits that write `*(p + i)` as `p[i]` and `__ldg(p + i)` as `__ldg(&p[i])`, and that
/// write `p[i]` or `&p[i]` in the place of `*q` and `q` where `T* q = p + i;` is all that is ever
/// said of `q`. They keep what the kernel does. Empty: there are none.
[[nodiscard]] std::vector<analysis::TextEdit> subscriptedPlaces(const SkillContext& context);

} // namespace kernelskill::skills
