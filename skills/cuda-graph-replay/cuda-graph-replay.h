/// Captures some rounds of a loop of launches into a graph and replays it.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeCudaGraphReplay();

} // namespace kernelskill::skills
