/// Gates of edits after which one block does the work of several blocks of the old launch, which
/// are neighbours along one axis of the grid.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// The axis of the grid along which blocks are merged, and where the kernel asks about it.
struct MergedBlocks {
    std::uint8_t axis = 0; ///< 0 is x, 1 is y.
    /// `blockIdx` along the axis, in the order of the source.
    std::vector<analysis::ExprId> blocks;
    std::vector<analysis::ExprId> grids; ///< `gridDim` along the axis.
};

/// Returns x where the kernel asks for it, else y. Refuses with `same-blocks`, `grid-axes`,
/// `has-parts` (a block does the work of several already), `callee-shares`, `uses-grid`, or what
/// requireSeparateBlocks() and editableBlockPositions() refuse with.
[[nodiscard]] Gated<MergedBlocks> mergedBlocks(const SkillContext& context);

/// Bounds on the number of blocks whose work one block does.
struct MergeLimits {
    int most = 2;
    int least = 2;
    /// The share of a large GPU's threads that the remaining blocks have to occupy.
    double occupied = 1;
};

/// Returns the largest of `most`, `most` / 2, ... whose static shared memory fits in a block, and
/// that leaves each launch of known size enough blocks. Refuses with `too-much-shared-memory` and
/// `few-blocks` where that is less than `least`, with `dynamic-shared-memory`, `launch-grid`, or
/// what requirePassableGrids() refuses with.
[[nodiscard]] Gated<int> blocksToMerge(const SkillContext& context, const MergedBlocks& merged,
                                       const MergeLimits& limits);

/// Returns the edits that give launches `count` times fewer blocks, rounded up, and the kernel the
/// old number as its last parameter, `blocks`. Needs blocksToMerge().
[[nodiscard]] std::vector<analysis::TextEdit> mergedLaunches(const SkillContext& context,
                                                             const MergedBlocks& merged, int count,
                                                             const std::string& blocks);

} // namespace kernelskill::skills
