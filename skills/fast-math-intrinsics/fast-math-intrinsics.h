/// Replaces functions of float by what the special-function units compute in a few instructions.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeFastMathIntrinsics();

} // namespace kernelskill::skills
