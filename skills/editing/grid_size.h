/// Launches whose number of blocks along x follows an edit of the kernel.
#pragma once

#include "analysis/queries/launch_extents.h"
#include "skills/base/skill.h"

#include <array>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// The launch's blocks along x, or its countOfGrid(), divided by `divisor`, rounded up. Needs
/// requireResizableGrids(), or requireCountableGrids().
[[nodiscard]] analysis::TextEdit dividedGrid(const SkillContext& context,
                                             const analysis::LaunchSite& launch, int divisor);
/// The launch's blocks along each axis divided by the axis' number, rounded up. Needs
/// requireResizableGrids().
[[nodiscard]] std::vector<analysis::TextEdit> dividedGridAxes(const SkillContext& context,
                                                              const analysis::LaunchSite& launch,
                                                              const std::array<int, 3>& divisors);
/// The launch's blocks along each axis for blocks that take `to` positions of it instead of `from`,
/// rounded up. Needs requireResizableGrids(). nullopt where an axis would get several blocks that
/// the launch does not name. An axis with a text in `given` gets that many blocks instead.
[[nodiscard]] std::optional<std::vector<analysis::TextEdit>>
regroupedGrid(const SkillContext& context, const analysis::LaunchSite& launch,
              const analysis::Extents& from, const analysis::Extents& to,
              const std::array<std::string, 3>& given = {});
/// The launch's blocks along x, or its countOfGrid(), times `factor`. Needs
/// requireResizableGrids(), or requireCountableGrids().
[[nodiscard]] analysis::TextEdit multipliedGrid(const SkillContext& context,
                                                const analysis::LaunchSite& launch, int factor);
/// The launch's blocks along x for blocks of `to` instead of `from` threads, rounded up. Needs
/// requireResizableGrids().
[[nodiscard]] analysis::TextEdit scaledGrid(const SkillContext& context,
                                            const analysis::LaunchSite& launch, int from, int to);

} // namespace kernelskill::skills
