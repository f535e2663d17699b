/// The uses of a kernel in host code: where it is launched, with which block, and whether anything
/// else names it.
#pragma once

#include "analysis/queries/launch_extents.h"
#include "skills/base/skill.h"

#include <array>
#include <cstdint>
#include <expected>
#include <optional>

namespace kernelskill::skills {

/// Block of every launch of the kernel in the file. Refuses when there is no launch (`no-launch`)
/// or one whose block is not known here (`unknown-block`).
[[nodiscard]] Gated<std::vector<analysis::Extents>> launchedBlocks(const SkillContext& context);

/// Whether the kernel, or a function that it calls, tells threads apart along the axis.
[[nodiscard]] bool asksForThreads(const SkillContext& context, std::uint32_t axis);

/// Refuses with `redundant-threads` where blocks of a launch have threads along y or z for which
/// the kernel does not ask: they do the same work, and may race.
[[nodiscard]] Gated<void> requireNoRedundantThreads(const SkillContext& context);

/// The threads of the smallest launch in the file; nullopt where the text does not tell of one.
[[nodiscard]] std::optional<std::int64_t> fewestThreads(const SkillContext& context);

/// The blocks along x of the smallest launch in the file whose grid is a constant.
[[nodiscard]] std::optional<std::int64_t> fewestKnownBlocks(const SkillContext& context);

/// Refuses when the known launches may not be all uses of the kernel: one comes out of a macro
/// (`launch-from-macro`), the kernel is named elsewhere, e.g. as a function pointer
/// (`kernel-named-elsewhere`), or another source may launch it too (`launched-elsewhere`). Forward
/// declarations and calls such as cudaFuncSetCacheConfig() are not a use. For edits that hold for
/// the launches as they are.
[[nodiscard]] Gated<void> requireKnownLaunches(const SkillContext& context);

/// As above, and refuses launches outside of the main file (`launch-in-other-file`): for edits of
/// the launches.
[[nodiscard]] Gated<void> requireFollowableLaunches(const SkillContext& context);

/// Path of another file that declares the kernel, as far as the model has its text.
[[nodiscard]] std::optional<std::string> fileThatDeclares(const SkillContext& context);

/// Parameter lists, brackets excluded, of the kernel's forward declarations in the main file.
[[nodiscard]] std::vector<analysis::Span> forwardDeclarations(const SkillContext& context);

/// Refuses unless every launch can be given another grid: `no-launch`, `launch-grid`, and what
/// requireFollowableLaunches() refuses.
[[nodiscard]] Gated<void> requireResizableGrids(const SkillContext& context);

} // namespace kernelskill::skills
