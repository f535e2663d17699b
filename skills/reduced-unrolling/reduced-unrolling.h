/// Unrolls a loop less where the values of its rounds do not fit into registers.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeReducedUnrolling();

} // namespace kernelskill::skills
