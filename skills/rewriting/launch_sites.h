/// What host code does with a kernel: where it is launched, with which block, and whether anything
/// else names it.
#pragma once

#include "skills/rewriting/code_map.h"
#include "skills/skill.h"

#include <array>
#include <cstdint>
#include <expected>
#include <optional>

namespace kernelskill::skills {

/// Extents x, y, z.
using Extents = std::array<std::int64_t, 3>;

/// Grid or block of a launch when it is made of constants.
[[nodiscard]] std::optional<Extents> constantExtents(const CodeMap& host, analysis::ExprId expr);

/// Block of every launch of the kernel in the file. Refuses when there is no launch (`no-launch`)
/// or one whose block is not known here (`unknown-block`).
[[nodiscard]] std::expected<std::vector<Extents>, Refusal>
launchedBlocks(const SkillContext& context);

/// Refuses when the launches in this file may not be all uses of the kernel that an edit must
/// follow: a launch out of a macro (`launch-from-macro`) or in a header (`launch-in-header`), or
/// the kernel named elsewhere, e.g. as a function pointer (`kernel-named-elsewhere`). Forward
/// declarations are not a use.
[[nodiscard]] std::expected<void, Refusal> requireFollowableLaunches(const SkillContext& context);

/// Parameter lists, brackets excluded, of the kernel's forward declarations in the main file.
[[nodiscard]] std::vector<analysis::Span> forwardDeclarations(const SkillContext& context);

} // namespace kernelskill::skills
