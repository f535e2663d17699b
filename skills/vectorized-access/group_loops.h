/// Writes walks so that each thread takes groups of neighbouring elements first.
#pragma once

#include "skills/vectorized-access/shared_walk.h"

#include <vector>

namespace kernelskill::skills {

/// For what sharedWalks() returned.
[[nodiscard]] std::vector<analysis::TextEdit>
groupLoopEdits(const SkillContext& context, const std::vector<WalksOfOneGuard>& sets);

} // namespace kernelskill::skills
