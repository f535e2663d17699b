/// Computes on two 16-bit elements with one instruction.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeVectorizedMath();

} // namespace kernelskill::skills
