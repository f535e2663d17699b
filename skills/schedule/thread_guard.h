/// Work that one thread of a block does while the others wait or leave.
#pragma once

#include "skills/base/skill.h"
#include "skills/schedule/lane_rows.h"

#include <cstdint>
#include <optional>

namespace kernelskill::skills {

/// The loops of one thread that its warp can share, those with running values among them.
struct ThreadWork {
    LaneRows rows; ///< Of the kernel; without loops where `callee` has them.
    /// Index into FileModel::deviceFunctions of a function that the thread alone calls, and nothing
    /// else does; noId: none.
    std::uint32_t callee = analysis::noId;
    analysis::StmtId call = analysis::noId;
    LaneRows called; ///< Of the callee.
};

/// The work under `if (threadIdx.x == 0)` or the like. Refuses with `no-thread-guard`,
/// `partial-warps`, `no-scan`, and what sharedLoops(), requireKnownLaunches() and launchedBlocks()
/// refuse with.
[[nodiscard]] Gated<ThreadWork> threadWork(const SkillContext& context);

/// The context of the callee.
[[nodiscard]] SkillContext calleeContext(const SkillContext& context, const ThreadWork& work);

} // namespace kernelskill::skills
