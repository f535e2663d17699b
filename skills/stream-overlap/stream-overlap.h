/// Gives launches that share no memory streams of their own, so that they run side by side.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeStreamOverlap();

} // namespace kernelskill::skills
