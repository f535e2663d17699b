/// Replaces the shared-memory tree of a block reduction by warp shuffles.
#pragma once

#include "skills/skill.h"

#include <memory>

namespace kernelskill::skills {

[[nodiscard]] std::unique_ptr<Skill> makeWarpShuffleReduction();

} // namespace kernelskill::skills
