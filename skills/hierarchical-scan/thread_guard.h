/// Finds loops that one thread of a block runs while the others wait, and that its warp can share.
#pragma once

#include "skills/base/skill.h"
#include "skills/schedule/lane_rows.h"

#include <cstdint>

namespace kernelskill::skills {

/// Loops under `if (threadIdx.x == 0)`, at least one with a running value: in the kernel, or in a
/// function that it calls there.
struct ThreadWork {
    LaneRows rows; ///< The kernel's loops; none if `callee` has them.
    /// Index into FileModel::deviceFunctions of a function that is called under the guard and
    /// nowhere else; noId: none.
    std::uint32_t callee = analysis::noId;
    analysis::StmtId call = analysis::noId;
    LaneRows called; ///< The callee's loops.
};

/// Finds the first such work of a kernel. Refuses with `no-thread-guard`,
/// `partial-warps`, `no-scan`, and what sharedLoops(), requireKnownLaunches() and launchedBlocks()
/// refuse; for a callee also `row-memory`, `lanes-differ`, and what requireDistinctWrites()
/// refuses.
[[nodiscard]] Gated<ThreadWork> threadWork(const SkillContext& context);

/// Returns the context of the callee, as if it were the kernel.
[[nodiscard]] SkillContext calleeContext(const SkillContext& context, const ThreadWork& work);

} // namespace kernelskill::skills
