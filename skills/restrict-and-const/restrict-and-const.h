/// Tells the compiler which pointers do not alias and which are only read.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeRestrictAndConst();

} // namespace kernelskill::skills
