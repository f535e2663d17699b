/// Writes the private copy: a table in shared memory, or a value in a register of each thread.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/atomics-privatization/contended_updates.h"

namespace kernelskill::skills {

[[nodiscard]] std::vector<analysis::TextEdit> privatizationEdits(const SkillContext& context,
                                                                 const analysis::CodeMap& code,
                                                                 const ContendedUpdates& updates);

} // namespace kernelskill::skills
