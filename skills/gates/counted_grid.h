/// Grids that a host function makes from the number of threads that are wanted.
#pragma once

#include "skills/base/skill.h"

namespace kernelskill::skills {

/// The number that a host function makes the launch's dim3 from and that the kernel is told as
/// well: `n` of `k<<<gridOf(n), 256>>>(x, n)`. noId where the grid is written in another way.
[[nodiscard]] analysis::ExprId countOfGrid(const SkillContext& context,
                                           const analysis::LaunchSite& launch);

/// Refuses unless every launch can be given another grid, as requireResizableGrids() does, or every
/// launch has a countOfGrid(), which an edit can change: for dividedGrid() and multipliedGrid().
[[nodiscard]] Gated<void> requireCountableGrids(const SkillContext& context);

} // namespace kernelskill::skills
