/// Has the lanes of a warp touch neighbouring addresses.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeCoalescedAccess();

} // namespace kernelskill::skills
