/// The edit that gives the work of a whole block of the old launch to one warp.
#pragma once

#include "analysis/queries/launch_extents.h"
#include "skills/schedule/draft.h"
#include "skills/schedule/merged_blocks.h"
#include "skills/schedule/part_runs.h"

#include <vector>

namespace kernelskill::skills {

struct WarpBlocks {
    MergedBlocks merged;
    analysis::Extents block{}; ///< The threads of a block along each axis, in every launch.
    int warps = 2;             ///< The warps of a block; so many old blocks become one.
    PartedWork work;
    std::vector<analysis::StmtId> returns;
    /// `threadIdx` and `blockDim`, in the order of the source.
    std::vector<analysis::ExprId> threads;
    std::vector<analysis::ExprId> barriers; ///< Calls of __syncthreads().
    /// Loops that are unrolled: the size of the block fixes their few rounds.
    std::vector<analysis::StmtId> fixedLoops;
};

/// Refuses with `several-blocks` (launches with blocks of different sizes), `partial-warps`,
/// `one-warp`, `many-warps`, `thread-groups`, or what requireBarriers(), launchedBlocks(),
/// mergedBlocks(), editableThreadPositions(), warpBarriers(), lastReturns(), partedWork() and
/// blocksToMerge() refuse with.
[[nodiscard]] Gated<WarpBlocks> warpBlocks(const SkillContext& context);

/// Rewrites the kernel and its launches; implemented in write_warps.cpp.
void giveToWarps(Draft& draft, const SkillContext& context, const WarpBlocks& found);

} // namespace kernelskill::skills
