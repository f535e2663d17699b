/// Expressions of a kernel as the code that launches it would write them.
#pragma once

#include "skills/base/skill.h"

#include <optional>
#include <string>

namespace kernelskill::skills {

/// Returns the integer `expr` of the kernel as text for the host function of the launch, at the
/// launch: parameters are the arguments, and locals that never change are what they are set to. It
/// stands beside any operator. nullopt where the value is made of anything else but numbers and
/// arithmetic, or an argument has an effect or comes out of a macro.
[[nodiscard]] std::optional<std::string> textAtLaunch(const SkillContext& context,
                                                      const analysis::LaunchSite& launch,
                                                      analysis::ExprId expr);

/// Returns the width of the launch's blocks along x as the launch has it, beside any operator.
/// nullopt where the text does not tell.
[[nodiscard]] std::optional<std::string> blockWidthText(const SkillContext& context,
                                                        const analysis::LaunchSite& launch);

} // namespace kernelskill::skills
