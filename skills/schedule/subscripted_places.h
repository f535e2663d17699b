/// Writes sums with pointers as elements of arrays.
#pragma once

#include "analysis/source/text_edit.h"
#include "skills/base/skill.h"

#include <vector>

namespace kernelskill::skills {

/// Returns edits that write `*(p + i)` as `p[i]` and `__ldg(p + i)` as `__ldg(&p[i])`, and that
/// replace `*q` and `q` by `p[i]` and `&p[i]` where `T* q = p + i;` gives `q` its only value. The
/// kernel computes the same. Empty if there is no such sum.
[[nodiscard]] std::vector<analysis::TextEdit> subscriptedPlaces(const SkillContext& context);

} // namespace kernelskill::skills
