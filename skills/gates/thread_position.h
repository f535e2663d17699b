/// The places where a kernel asks which thread or block it is.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <expected>
#include <optional>
#include <vector>

namespace kernelskill::skills {

/// Every `threadIdx.x` and its kin in the body, in the order of the source. Refuses where a
/// thread's position is also known elsewhere: `callee-uses-thread-position` (a device function),
/// `inline-assembly`, `warp-operation`, `from-macro`, `thread-position-as-a-whole` (`threadIdx`
/// without a member).
[[nodiscard]] Gated<std::vector<analysis::ExprId>> editablePositions(const SkillContext& context);

/// Every `threadIdx.x` and `blockDim.x` and their kin in the body, in the order of the source, for
/// edits that leave each lane of a warp where it is. Refuses as editablePositions() does, but not
/// warp operations; `hidden-thread-position` where no expression shows the place.
[[nodiscard]] Gated<std::vector<analysis::ExprId>>
editableThreadPositions(const SkillContext& context);

/// Refuses what editablePositions() refuses, but for `from-macro`: for edits that leave these
/// places as they are.
[[nodiscard]] Gated<void> requireKnownPositions(const SkillContext& context);

/// Every `blockIdx.x` and its kin in the body, in the order of the source. Refuses where a block's
/// position is also known elsewhere: `callee-uses-block-position`, `inline-assembly`, `from-macro`,
/// `block-position-as-a-whole` (`blockIdx` without a member, or in a lambda),
/// `hidden-block-position` (where no expression shows it, e.g. in sizeof).
[[nodiscard]] Gated<std::vector<analysis::ExprId>>
editableBlockPositions(const SkillContext& context);

/// The extent along the axis that the blocks of all launches have; nullopt if it differs or is
/// unknown.
[[nodiscard]] std::optional<std::int64_t> commonBlockExtent(const SkillContext& context,
                                                            std::uint8_t axis);

/// Refuses with `uses-thread-position` where the kernel asks for the axis other than for the value
/// of `index`, also through locals that feed it alone.
[[nodiscard]] Gated<void> requireOnlyIndex(const SkillContext& context,
                                           const analysis::CodeMap& code,
                                           analysis::VariableId index, std::uint8_t axis);

/// The expression without the constant that is added at its end: `i` of `i + 1`, and `i` of `i`.
/// noId if the constant stands elsewhere in it, or it is no polynomial.
[[nodiscard]] analysis::ExprId withoutAddedConstant(const analysis::CodeMap& code,
                                                    analysis::ExprId expr);

/// Whether the body names that axis (0: x) of threadIdx.
[[nodiscard]] bool usesThread(const analysis::FunctionBody& body, std::uint8_t axis);

} // namespace kernelskill::skills
