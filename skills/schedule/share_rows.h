/// The primitives `remap` and `reduce` on rows: the work of a thread on its row is shared by the
/// lanes of a warp or by a block, and what the row folds into a value is folded across them.
#pragma once

#include "skills/schedule/draft.h"
#include "skills/schedule/lane_rows.h"

namespace kernelskill::skills {

/// Gives each row to a warp, a part of one or a block, and launches as many times more blocks.
/// Loops with running values need whole warps.
void shareRows(Draft& draft, const SkillContext& context, const LaneRows& rows);

} // namespace kernelskill::skills
