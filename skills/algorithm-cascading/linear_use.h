/// Whether code is a linear function of the values that threads hand in.
#pragma once

#include "skills/base/skill.h"

namespace kernelskill::skills {

/// Refuses unless all that the kernel does behind `statement` with the variable, a local or a
/// shared array, is to copy, to exchange and to add it, and to add it to memory by atomics:
/// `not-a-sum`, `no-total`, `counts-blocks`.
[[nodiscard]] Gated<void> requireLinearUse(const SkillContext& context, analysis::StmtId statement,
                                           analysis::VariableId variable);

} // namespace kernelskill::skills
