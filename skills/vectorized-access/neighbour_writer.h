/// Kernels rewritten so that a thread takes a group of neighbouring elements of a row.
#pragma once

#include "skills/base/skill.h"
#include "skills/vectorized-access/neighbour_groups.h"

#include <vector>

namespace kernelskill::skills {

/// The kernel on groups, with a scalar path for those that do not lie in one row or are not
/// aligned, and its launches.
[[nodiscard]] std::vector<analysis::TextEdit> neighbourEdits(const SkillContext& context,
                                                             const NeighbourGroups& groups);

} // namespace kernelskill::skills
