/// Limits how many points a thread may take, so that launches keep enough threads for a GPU.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>

namespace kernelskill::skills {

/// Returns how many points along `axis` a thread may take: `max`, or half of it, and so on, until
/// every launch of known size keeps as many threads as an H200 holds. Refuses with
/// `launch-grid`, `too-few-blocks`, or what requireResizableGrids() refuses.
[[nodiscard]] Gated<int> pointsOfAThread(const SkillContext& context, std::uint8_t axis, int max);

} // namespace kernelskill::skills
