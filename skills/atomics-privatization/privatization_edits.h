/// Writes the private copy: a table in shared memory, or a value in a register of each thread.
#pragma once

#include "skills/atomics-privatization/contended_updates.h"

namespace kernelskill::skills {

[[nodiscard]] analysis::EditSet privatizationEdits(const SkillContext& context, const CodeMap& code,
                                                   const ContendedUpdates& updates);

} // namespace kernelskill::skills
