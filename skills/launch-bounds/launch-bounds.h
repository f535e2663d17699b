/// Tells the compiler how large blocks are and how many of them are to be resident.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeLaunchBounds();

} // namespace kernelskill::skills
