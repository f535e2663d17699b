/// The text of a kernel whose threads take several rows each.
#pragma once

#include "skills/base/skill.h"
#include "skills/thread-coarsening/coarsening_plan.h"

#include <vector>

namespace kernelskill::skills {

/// The edits of the kernel, for one of the plan's counts; those of its launches are the caller's.
[[nodiscard]] std::vector<analysis::TextEdit>
rowCopies(const SkillContext& context, const CoarseningPlan& plan, const RowCount& count);

} // namespace kernelskill::skills
