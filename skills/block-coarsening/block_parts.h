/// The edit that gives a block the work of several blocks of the old launch, statement by
/// statement, so that they meet at the same barriers.
#pragma once

#include "skills/schedule/draft.h"
#include "skills/schedule/part_runs.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::skills {

struct BlockParts {
    std::uint8_t axis = 0; ///< Parts are neighbours along this axis of the grid.
    int most = 2;          ///< The max number of parts: a power of two, at most 8.
    PartedWork work;
    std::vector<bool> guarded; ///< For each run: parts beyond the last block are kept out.
    /// `blockIdx` along the axis, in the order of the source.
    std::vector<analysis::ExprId> blocks;
    std::vector<analysis::ExprId> grids; ///< `gridDim` along the axis.
    std::vector<analysis::StmtId> returns;
    std::size_t commonBarriers = 0; ///< Barriers at which parts meet together.
};

/// Refuses with `no-barrier`, `same-blocks`, `grid-axes`, `has-parts`, `callee-shares`,
/// `no-common-barrier`, `too-much-shared-memory`, `dynamic-shared-memory`, `few-blocks`,
/// `launch-grid`, `early-return`, `uses-grid`, or what partedWork(), requireSeparateBlocks(),
/// editableBlockPositions() and requirePassableGrids() refuse with.
[[nodiscard]] Gated<BlockParts> blockParts(const SkillContext& context);

/// Rewrites the kernel and its launches for `count` parts; implemented in write_parts.cpp.
void coarsen(Draft& draft, const SkillContext& context, const BlockParts& found, int count);

} // namespace kernelskill::skills
