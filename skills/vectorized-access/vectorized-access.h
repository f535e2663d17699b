/// Moves several neighbouring elements with one load or store of a vector type.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeVectorizedAccess();

} // namespace kernelskill::skills
