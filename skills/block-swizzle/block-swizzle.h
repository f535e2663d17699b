/// Takes the blocks of a grid in groups of rows, so that those in flight share what L2 holds.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeBlockSwizzle();

} // namespace kernelskill::skills
