/// Writes a table in shared memory for a block's updates, and its addition to global memory.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/atomics-privatization/table_updates.h"
#include "skills/base/skill.h"

#include <vector>

namespace kernelskill::skills {

struct TableForm {
    int elements = 1; ///< About how many a thread loops over, where it handled one.
    int tables = 1;   ///< The tables of a block, which the lanes of a warp use in turns.
};

[[nodiscard]] std::vector<analysis::TextEdit> privatizationEdits(const SkillContext& context,
                                                                 const analysis::CodeMap& code,
                                                                 const TableUpdates& updates,
                                                                 const TableForm& form);

} // namespace kernelskill::skills
