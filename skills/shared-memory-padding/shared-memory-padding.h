/// Pads the rows of a shared array so that a warp's lanes spread over the banks.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeSharedMemoryPadding();

} // namespace kernelskill::skills
