/// Unrolls counted loops, and gives floating-point reductions separate accumulators.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeLoopUnrolling();

} // namespace kernelskill::skills
