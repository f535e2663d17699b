/// Launches with blocks of another shape, and grids that cover the same work.
#pragma once

#include "analysis/queries/launch_extents.h"
#include "skills/base/skill.h"
#include "skills/schedule/grid_axes.h"

#include <vector>

namespace kernelskill::skills {

/// Whether blocks of `to` threads can take the place of blocks of `from`: along each axis that
/// changes as many threads are launched as before, or the kernel limits those that work. Needs
/// requireResizableGrids().
[[nodiscard]] bool canTakeShape(const SkillContext& context, const GridAxes& axes,
                                const analysis::Extents& from, const analysis::Extents& to);

/// The block of a launch, written in the launch as a number or a dim3. Refuses with `launch-block`
/// where it is not written there, or by a macro of several words.
[[nodiscard]] Gated<analysis::TextEdit> blockEdit(const SkillContext& context,
                                                  const analysis::LaunchSite& launch,
                                                  const analysis::Extents& to);

/// The edits. Where the grid of each launch follows from the block by its formula, or by one whose
/// numbers are changed with it, the definitions are changed, else the launches. Needs
/// canTakeShape().
[[nodiscard]] Gated<std::vector<analysis::TextEdit>> shapedLaunches(const SkillContext& context,
                                                                    const GridAxes& axes,
                                                                    const analysis::Extents& from,
                                                                    const analysis::Extents& to);

} // namespace kernelskill::skills
