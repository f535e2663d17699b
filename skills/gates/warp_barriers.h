/// Finds the barriers of a block that a barrier of a warp can replace.
#pragma once

#include "skills/base/skill.h"

#include <string_view>
#include <vector>

namespace kernelskill::skills {

/// Returns the calls of __syncthreads(). Refuses with `no-barrier`, and with `barrier-form` where
/// the block has another kind of barrier, or one in a macro.
[[nodiscard]] Gated<std::vector<analysis::ExprId>> warpBarriers(const SkillContext& context);

/// The call that replaces them.
inline constexpr std::string_view warpBarrierCall = "__syncwarp()";

} // namespace kernelskill::skills
