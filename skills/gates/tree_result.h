/// Checks that code after a tree reduction uses nothing but its result.
#pragma once

#include "skills/base/skill.h"
#include "skills/gates/tree_reduction.h"

namespace kernelskill::skills {

/// Refuses with `array-read-after` if code after the tree reads more than the element with the
/// result before the array is written again, and with `array-escapes` if the array is used as a
/// pointer.
[[nodiscard]] Gated<void> requireResultOnly(const SkillContext& context, const TreeReduction& tree);

/// Refuses with `stride-used-after` if code outside the tree uses its stride.
[[nodiscard]] Gated<void> requireOwnStride(const SkillContext& context, const TreeReduction& tree);

} // namespace kernelskill::skills
