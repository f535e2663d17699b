/// The primitives `remap` and `reduce` on rows: the work of a thread on its row is shared by the
/// lanes of a warp, and what the row folds into a value is folded across lanes.
#pragma once

#include "skills/schedule/draft.h"
#include "skills/schedule/lane_rows.h"

namespace kernelskill::skills {

/// Sums of floating-point numbers are made in another order.
[[nodiscard]] bool reassociates(const LaneRows& rows);

/// A warp for each row, and as many times more blocks.
void shareRows(Draft& draft, const SkillContext& context, const LaneRows& rows);

} // namespace kernelskill::skills
