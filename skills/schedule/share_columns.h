/// The primitives `remap` and `reduce` on columns: the rounds of a thread on its column are shared
/// by the threads of a further axis of the block, which fold what they found in shared memory.
#pragma once

#include "skills/schedule/column_parts.h"
#include "skills/schedule/draft.h"

#include <cstdint>

namespace kernelskill::skills {

/// The columns of a block fall to `parts` times as many threads; blocks and grids follow.
void shareColumns(Draft& draft, const SkillContext& context, const ColumnParts& columns,
                  std::int64_t parts);

} // namespace kernelskill::skills
