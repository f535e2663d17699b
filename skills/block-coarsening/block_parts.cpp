#include "skills/block-coarsening/block_parts.h"

#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/block-coarsening/surplus_parts.h"
#include "skills/gates/block_collective.h"
#include "skills/schedule/part_returns.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// With more, registers and shared memory leave too few threads, and code grows.
constexpr int mostParts = 8;

} // namespace

Gated<BlockParts> blockParts(const SkillContext& context) {
    const std::string& name = context.kernel.name;
    KERNELSKILL_CHECK(requireEditable(context));
    KERNELSKILL_CHECK(requireBarriers(context));
    BlockParts found;
    KERNELSKILL_TRY(found.merged, mergedBlocks(context));
    const StatementRoles roles(context, blocksAlong(context, found.merged.axis));
    found.commonBarriers = roles.commonBarriers();
    if (found.commonBarriers == 0)
        return refuse("no-common-barrier",
                      fmt::format("how often threads of {} meet depends on the block", name));
    KERNELSKILL_TRY(found.returns, lastReturns(context, roles));
    KERNELSKILL_TRY(found.work, partedWork(context, roles));
    found.guarded = guardedRuns(context, roles, found.merged.axis);
    KERNELSKILL_TRY(found.most, blocksToMerge(context, found.merged, {.most = mostParts}));
    return found;
}

} // namespace kernelskill::skills
