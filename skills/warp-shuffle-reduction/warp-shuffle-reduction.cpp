/// Replaces the shared-memory tree of a block reduction by warp shuffles.
#include "skills/base/planned_skill.h"
#include "skills/warp-shuffle-reduction/reduction_gates.h"
#include "skills/warp-shuffle-reduction/shuffle_rewriter.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class WarpShuffleReductionSkill : public PlannedSkill<TreeReduction> {
    Gated<TreeReduction> plan(const SkillContext& context) const override {
        return findTree(context, context.code());
    }

    Gated<Offer> offer(const SkillContext& context, const TreeReduction& tree) const override {
        const FunctionBody& body = context.kernel.body;
        const std::string names = arrayNames(body, tree);
        Offer offer = newOffer(context, body.stmt(context.kernel.loops[tree.loop].statement).span);
        offer.title = fmt::format("Reduce {} with warp shuffles", names);
        offer.why =
            fmt::format("the loop on line {} folds {} in shared memory with a barrier each step; "
                        "every launch has whole warps",
                        lineNumber(context, offer.anchor.begin), names);
        offer.numerics = numericsOf(body, tree);
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const TreeReduction& tree) const override {
        return shuffleEdits(context, context.code(), tree);
    }
};

} // namespace

KERNELSKILL_SKILL(WarpShuffleReductionSkill)

} // namespace kernelskill::skills
