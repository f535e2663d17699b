/// Kernels whose threads do not know of each other.
#pragma once

#include "analysis/nest/nest.h"
#include "skills/base/skill.h"

namespace kernelskill::skills {

/// Refuses with `unknown-effects` where a statement of the nest is not followed: it may write
/// anything.
[[nodiscard]] Gated<void> requireKnownEffects(const SkillContext& context);
/// As above, for what runs at or below `root`.
[[nodiscard]] Gated<void> requireKnownEffects(const SkillContext& context,
                                              analysis::NestNodeId root);

/// Refuses with `shares-memory`, `barrier`, `warp-operation` or `unknown-effects` where threads
/// know of each other. Atomics are left to the caller.
[[nodiscard]] Gated<void> requireThreadsApart(const SkillContext& context);

} // namespace kernelskill::skills
