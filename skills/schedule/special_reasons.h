/// What of a kernel's code the values of its parameters decide.
#pragma once

#include "skills/schedule/specialize.h"

#include <vector>

namespace kernelskill::skills {

/// All reasons to compile the kernel for `given`, heaviest first. Reasons that need more than two
/// parameters are left out.
[[nodiscard]] std::vector<SpecialReason> specialReasons(const SkillContext& context,
                                                        const GivenValues& given);

} // namespace kernelskill::skills
