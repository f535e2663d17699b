/// Carries the quotient and remainder of a loop's index from round to round instead of dividing.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeAddressStrengthReduction();

} // namespace kernelskill::skills
