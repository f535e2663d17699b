/// Lets the loads of several rounds of a loop be under way before the first is used.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeMemoryLevelParallelism();

} // namespace kernelskill::skills
