/// Kernels that do the same whatever the number of threads in a block.
#pragma once

#include "skills/base/skill.h"

namespace kernelskill::skills {

/// Refuses unless the kernel is one element or row a thread under a bounds check, or one
/// grid-stride loop, whose threads take no notice of each other: what recogniseElementwise() and
/// requireIndependentWork() refuse, and `uses-thread-position`.
[[nodiscard]] Gated<void> requireAnyBlock(const SkillContext& context);

} // namespace kernelskill::skills
