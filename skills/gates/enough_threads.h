/// Launches that leave a GPU enough threads where each of them takes several points.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>

namespace kernelskill::skills {

/// The largest of `max`, its half and so on for which the launches' blocks along the axis can be
/// divided by it. Known launches keep as many threads as an H200 holds. Refuses with
/// `launch-grid`, `too-few-blocks`, or what requireResizableGrids() refuses.
[[nodiscard]] Gated<int> pointsOfAThread(const SkillContext& context, std::uint8_t axis, int max);

} // namespace kernelskill::skills
