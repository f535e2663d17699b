/// Lets a kernel that handles one element a thread handle any size with any grid.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeGridStrideLoop();

} // namespace kernelskill::skills
