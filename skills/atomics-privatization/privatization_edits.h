/// Writes a table in shared memory for a block's updates, and its addition to global memory.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/atomics-privatization/table_updates.h"

namespace kernelskill::skills {

/// Where each thread handles one element, it loops over about `elementsPerThread` of them after it.
[[nodiscard]] std::vector<analysis::TextEdit> privatizationEdits(const SkillContext& context,
                                                                 const analysis::CodeMap& code,
                                                                 const TableUpdates& updates,
                                                                 int elementsPerThread);

} // namespace kernelskill::skills
