/// Writes the reduction within a block: a register of each thread, shuffles, and one atomic a
/// block.
#pragma once

#include "skills/block-reduction/block_updates.h"

#include <vector>

namespace kernelskill::skills {

[[nodiscard]] std::vector<analysis::TextEdit> blockReductionEdits(const SkillContext& context,
                                                                  const BlockUpdates& updates);

} // namespace kernelskill::skills
