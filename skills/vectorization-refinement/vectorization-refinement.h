/// Moves two elements that already are pairs with one access of 16 bytes.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeVectorizationRefinement();

} // namespace kernelskill::skills
