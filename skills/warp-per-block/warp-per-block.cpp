/// Gives the work of each block to one warp, whose lanes wait for no other warp.
#include "skills/base/planned_skill.h"
#include "skills/warp-per-block/warp_blocks.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class WarpPerBlockSkill : public PlannedSkill<WarpBlocks> {
    [[nodiscard]] Gated<WarpBlocks> plan(const SkillContext& context) const override {
        return warpBlocks(context);
    }

    [[nodiscard]] Gated<Offer> offer(const SkillContext& context,
                                     const WarpBlocks& found) const override {
        Offer offer = newOffer(context, context.kernel.nameSpan);
        offer.title =
            fmt::format("Give the work of each block of {} to a warp", context.kernel.name);
        offer.why = fmt::format(
            "the {} warps of a block wait for each other at {}; a warp that does the work of all "
            "waits for none, and has the loads of {} threads a lane under way",
            found.warps, found.barriers.size() == 1 ? "a barrier" : "barriers", found.warps);
        return offer;
    }

    [[nodiscard]] GatedEdits edits(const SkillContext& context,
                                   const WarpBlocks& found) const override {
        Draft draft(context);
        giveToWarps(draft, context, found);
        return draft.edits();
    }
};

} // namespace

KERNELSKILL_SKILL(WarpPerBlockSkill)

} // namespace kernelskill::skills
