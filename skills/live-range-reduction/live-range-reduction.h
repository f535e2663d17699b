/// Loads values where they are used instead of keeping them through a loop.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeLiveRangeReduction();

} // namespace kernelskill::skills
