/// The edit that gives a block the work of several blocks of the old launch, statement by
/// statement, so that they meet at the same barriers.
#pragma once

#include "skills/schedule/draft.h"
#include "skills/schedule/merged_blocks.h"
#include "skills/schedule/part_runs.h"

#include <vector>

namespace kernelskill::skills {

struct BlockParts {
    MergedBlocks merged;
    int most = 2; ///< The max number of parts: a power of two, at most 8.
    PartedWork work;
    std::vector<bool> guarded; ///< For each run: parts beyond the last block are kept out.
    std::vector<analysis::StmtId> returns;
    std::size_t commonBarriers = 0; ///< Barriers at which parts meet together.
};

/// Refuses with `no-common-barrier`, or what requireBarriers(), mergedBlocks(), blocksToMerge(),
/// lastReturns() and partedWork() refuse with.
[[nodiscard]] Gated<BlockParts> blockParts(const SkillContext& context);

/// Rewrites the kernel and its launches for `count` parts; implemented in write_parts.cpp.
void coarsen(Draft& draft, const SkillContext& context, const BlockParts& found, int count);

} // namespace kernelskill::skills
