/// Launches with blocks of another shape, and grids that cover the same work.
#pragma once

#include "analysis/queries/launch_extents.h"
#include "skills/base/skill.h"
#include "skills/launch-tuning/grid_axes.h"

#include <vector>

namespace kernelskill::skills {

/// Whether blocks of `to` threads can replace blocks of `from`: along each axis that changes, as
/// many threads are launched as before, or a guard of the kernel keeps further ones from work.
/// Requires that requireResizableGrids() holds.
[[nodiscard]] bool canTakeShape(const SkillContext& context, const GridAxes& axes,
                                const analysis::Extents& from, const analysis::Extents& to);

/// Returns the edit that writes the block into the launch, as a number or a dim3. Refuses with
/// `launch-block` where the block comes out of a macro that is not a single name.
[[nodiscard]] Gated<analysis::TextEdit> blockEdit(const SkillContext& context,
                                                  const analysis::LaunchSite& launch,
                                                  const analysis::Extents& to);

/// Returns edits that give all launches blocks of `to` threads: of the definitions where
/// editsOfDefinitions() has some, otherwise of the launches. Requires that canTakeShape() holds.
[[nodiscard]] Gated<std::vector<analysis::TextEdit>> shapedLaunches(const SkillContext& context,
                                                                    const GridAxes& axes,
                                                                    const analysis::Extents& from,
                                                                    const analysis::Extents& to);

} // namespace kernelskill::skills
