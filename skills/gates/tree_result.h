/// What a tree reduction leaves behind: one result, and elements that nobody may ask for.
#pragma once

#include "skills/base/skill.h"
#include "skills/gates/tree_reduction.h"

#include <expected>

namespace kernelskill::skills {

/// Refuses unless after the tree only the element with the result is read, until the array is
/// written again: `array-read-after`, `array-escapes`.
[[nodiscard]] Gated<void> requireResultOnly(const SkillContext& context, const TreeReduction& tree);

/// Refuses with `stride-used-after` where code behind the tree may ask for its stride.
[[nodiscard]] Gated<void> requireOwnStride(const SkillContext& context, const TreeReduction& tree);

} // namespace kernelskill::skills
