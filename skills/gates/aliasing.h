/// Whether two pointers of a kernel may lead to the same memory.
#pragma once

#include "skills/base/skill.h"

#include <expected>

namespace kernelskill::skills {

/// Holds for two parameters that are both `__restrict__`, and for those that every launch in the
/// file fills from different objects. Refuses with `may-alias`.
[[nodiscard]] Gated<void> requireDistinctMemory(const SkillContext& context, analysis::VariableId a,
                                                analysis::VariableId b);

/// Requires the same of the parameter `written` and each pointer that is only read. Never refuses
/// if `written` is not a parameter.
[[nodiscard]] Gated<void> requireDistinctInputs(const SkillContext& context,
                                                analysis::VariableId written);

/// As above, for each pointer that is written with each other one that is read or written.
/// Memory reached other than through a parameter is refused with `may-alias`, too.
[[nodiscard]] Gated<void> requireDistinctWrites(const SkillContext& context);

} // namespace kernelskill::skills
