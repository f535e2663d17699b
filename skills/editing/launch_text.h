/// Writes expressions of a kernel as the host code that launches it would.
#pragma once

#include "skills/base/skill.h"

#include <optional>
#include <string>

namespace kernelskill::skills {

/// Returns the integer `expr` of the kernel as an operand for the host code at the launch:
/// parameters become the arguments, and locals that never change become their values. nullopt if
/// the value contains anything but these, numbers and arithmetic, or if an argument has a side
/// effect or comes out of a macro.
[[nodiscard]] std::optional<std::string> textAtLaunch(const SkillContext& context,
                                                      const analysis::LaunchSite& launch,
                                                      analysis::ExprId expr);

/// Returns the width of the launch's blocks along x as an operand for the host code at the launch.
/// nullopt if the launch does not state it.
[[nodiscard]] std::optional<std::string> blockWidthText(const SkillContext& context,
                                                        const analysis::LaunchSite& launch);

} // namespace kernelskill::skills
