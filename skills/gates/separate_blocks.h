/// Kernels whose blocks do not communicate, so that one may do the work of several.
#pragma once

#include "skills/base/skill.h"

namespace kernelskill::skills {

/// Refuses with `blocks-meet` where blocks may communicate: through fences, barriers of the grid,
/// volatile memory, clusters, or a loop that waits for an atomic.
[[nodiscard]] Gated<void> requireSeparateBlocks(const SkillContext& context);

/// Refuses with `uses-grid` where a function that the kernel calls asks how many blocks there are.
[[nodiscard]] Gated<void> requireCalleesWithoutGrid(const SkillContext& context);

} // namespace kernelskill::skills
