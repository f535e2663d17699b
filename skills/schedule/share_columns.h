/// The primitives `remap` and `reduce` on columns: the rounds of a thread on its column are shared
/// by the threads of a further axis of the block, which fold what they found in shared memory.
#pragma once

#include "skills/schedule/column_parts.h"
#include "skills/schedule/draft.h"

#include <cstdint>

namespace kernelskill::skills {

/// Gives the columns of a block to `parts` times as many threads, and changes launches to that.
void shareColumns(Draft& draft, const SkillContext& context, const ColumnParts& columns,
                  std::int64_t parts);

} // namespace kernelskill::skills
