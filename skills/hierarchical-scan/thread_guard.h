/// Work that one thread of a block does while the others wait or leave.
#pragma once

#include "skills/base/skill.h"
#include "skills/schedule/lane_rows.h"

#include <cstdint>
#include <optional>

namespace kernelskill::skills {

/// The loops of one thread that its warp can share, those with running values among them.
struct ThreadWork {
    LaneRows rows; ///< The kernel's part; without loops if `callee` has them.
    /// The index into FileModel::deviceFunctions of the function that has the loops, which is
    /// called there and nowhere else; noId: the kernel has them.
    std::uint32_t callee = analysis::noId;
    analysis::StmtId call = analysis::noId;
    LaneRows called; ///< The callee's part.
};

/// Finds the work under `if (threadIdx.x == 0)` or the like. Refuses with `no-thread-guard`,
/// `partial-warps`, `no-scan`, and what sharedLoops(), requireKnownLaunches() and launchedBlocks()
/// refuse with.
[[nodiscard]] Gated<ThreadWork> threadWork(const SkillContext& context);

/// Returns the context of the callee, which has to be there.
[[nodiscard]] SkillContext calleeContext(const SkillContext& context, const ThreadWork& work);

} // namespace kernelskill::skills
