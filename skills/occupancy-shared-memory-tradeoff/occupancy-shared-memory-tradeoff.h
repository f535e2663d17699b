/// Lets two shared arrays that are never needed at the same time share their memory.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeOccupancySharedMemoryTradeoff();

} // namespace kernelskill::skills
