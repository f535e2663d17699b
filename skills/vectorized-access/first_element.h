/// Searches for an extreme that begin with element 0.
#pragma once

#include "skills/vectorized-access/shared_walk.h"

namespace kernelskill::skills {

/// Whether the walk, whose first index is 1, may as well fold element 0: it changes nothing but
/// minima and maxima of its elements, each of which holds element 0 when the walk begins.
[[nodiscard]] bool foldsFirstAgain(const SkillContext& context, const SharedWalk& walk);

} // namespace kernelskill::skills
