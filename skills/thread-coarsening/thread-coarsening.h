/// Gives a thread several neighbouring rows of a two-dimensional result.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeThreadCoarsening();

} // namespace kernelskill::skills
