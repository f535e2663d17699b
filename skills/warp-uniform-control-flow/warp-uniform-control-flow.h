/// Gives the work of every m-th thread to the first threads of the block, which fill whole warps.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeWarpUniformControlFlow();

} // namespace kernelskill::skills
