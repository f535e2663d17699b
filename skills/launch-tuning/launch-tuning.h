/// Chooses another block size where the launch wastes lanes, warps or multiprocessors.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeLaunchTuning();

} // namespace kernelskill::skills
