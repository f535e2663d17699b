/// The places where a kernel asks which thread or block it is.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>
#include <expected>
#include <vector>

namespace kernelskill::skills {

/// Every `threadIdx.x` and its kin in the body, in the order of the source. Refuses where a
/// thread's position is also known elsewhere: `callee-uses-thread-position` (a device function),
/// `inline-assembly`, `warp-operation`, `from-macro`, `thread-position-as-a-whole` (`threadIdx`
/// without a member).
[[nodiscard]] Gated<std::vector<analysis::ExprId>> editablePositions(const SkillContext& context);

/// Every `blockIdx.x` and its kin in the body, in the order of the source. Refuses where a block's
/// position is also known elsewhere: `callee-uses-block-position`, `inline-assembly`, `from-macro`,
/// `block-position-as-a-whole` (`blockIdx` without a member, or in a lambda),
/// `hidden-block-position` (where no expression shows it, e.g. in sizeof).
[[nodiscard]] Gated<std::vector<analysis::ExprId>>
editableBlockPositions(const SkillContext& context);

/// Whether the body names that axis (0: x) of threadIdx.
[[nodiscard]] bool usesThread(const analysis::FunctionBody& body, std::uint8_t axis);

} // namespace kernelskill::skills
