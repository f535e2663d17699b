/// Finds how large a block's own table for its updates has to be, and whether it pays.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/atomics-privatization/table_updates.h"
#include "skills/base/skill.h"

namespace kernelskill::skills {

/// Returns a table for every element that `updates` can reach, or for those that the host code says
/// the array has: what may lie beyond is in PrivateTable::open. Refuses with `table-not-a-sum`,
/// `lanes-apart`, `index-may-be-negative`, `unknown-table-size`, `shared-memory-taken`,
/// `table-too-large` or `table-larger-than-work`.
[[nodiscard]] Gated<PrivateTable> findPrivateTable(const SkillContext& context,
                                                   const analysis::CodeMap& code,
                                                   const TableUpdates& updates);

} // namespace kernelskill::skills
