/// Barriers of a block at which a warp can meet instead.
#pragma once

#include "skills/base/skill.h"

#include <vector>

namespace kernelskill::skills {

/// Returns the calls of __syncthreads(). Refuses with `no-barrier`, and with `barrier-form` where a
/// block meets otherwise, or in a macro.
[[nodiscard]] Gated<std::vector<analysis::ExprId>> warpBarriers(const SkillContext& context);

/// What stands in their place.
inline constexpr const char* warpBarrierCall = "__syncwarp()";

} // namespace kernelskill::skills
