/// The last block has parts that stand for no block of the old launch, if the grid is no multiple
/// of the number of parts. In some runs these parts may do as the others do, which saves a check.
#pragma once

#include "skills/schedule/part_locals.h"

#include <vector>

namespace kernelskill::skills {

/// For each run, whether parts beyond the last block have to be kept out: the run writes global
/// memory, reads it without a condition on the part's position, follows data as an address or as a
/// number of rounds, or reads what such a run leaves.
[[nodiscard]] std::vector<bool> guardedRuns(const SkillContext& context,
                                            const StatementRoles& roles, std::uint8_t axis);

} // namespace kernelskill::skills
