/// Lets the threads of blocks that are one warp meet at barriers of the warp.
#include "analysis/source/gpu_constants.h"
#include "skills/base/planned_skill.h"
#include "skills/gates/block_collective.h"
#include "skills/gates/launch_sites.h"
#include "skills/gates/warp_barriers.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

struct OneWarpBlocks {
    std::vector<ExprId> barriers;
    std::int64_t threads = 0; ///< The number of threads in the largest launched block.
};

class WarpBarriersSkill : public PlannedSkill<OneWarpBlocks> {
    [[nodiscard]] Gated<OneWarpBlocks> plan(const SkillContext& context) const override {
        KERNELSKILL_CHECK(requireEditable(context));
        KERNELSKILL_CHECK(requireBarriers(context));
        KERNELSKILL_CHECK(requireKnownLaunches(context));
        KERNELSKILL_TRY(const auto blocks, launchedBlocks(context));
        OneWarpBlocks found;
        for (const Extents& block : blocks)
            found.threads = std::max(found.threads, block[0] * block[1] * block[2]);
        if (found.threads > warpLanes)
            return refuse("several-warps", fmt::format("a block of {} has {} threads",
                                                       context.kernel.name, found.threads));
        KERNELSKILL_TRY(found.barriers, warpBarriers(context));
        return found;
    }

    [[nodiscard]] Gated<Offer> offer(const SkillContext& context,
                                     const OneWarpBlocks& found) const override {
        Offer offer = newOffer(context, context.kernel.nameSpan);
        offer.title = fmt::format("Let the threads of {} meet at barriers of their warp",
                                  context.kernel.name);
        offer.why = fmt::format("every launch has blocks of at most {} threads, one warp, which "
                                "needs no barrier of the block",
                                found.threads);
        return offer;
    }

    [[nodiscard]] GatedEdits edits(const SkillContext& context,
                                   const OneWarpBlocks& found) const override {
        std::vector<TextEdit> edits;
        for (const ExprId barrier : found.barriers)
            edits.push_back({context.kernel.body.expr(barrier).span, std::string(warpBarrierCall)});
        return edits;
    }
};

} // namespace

KERNELSKILL_SKILL(WarpBarriersSkill)

} // namespace kernelskill::skills
