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
        std::string names;
        bool isExact = true;
        for (const FoldedArray& folded : tree.arrays) {
            const Variable& array = body.variable(folded.array);
            names += fmt::format("{}{}", names.empty() ? "" : ", ", array.name);
            const bool isInteger =
                array.type.scalar >= ScalarKind::Bool && array.type.scalar <= ScalarKind::UInt64;
            isExact =
                isExact &&
                (isInteger || (folded.fold != FoldKind::Sum && folded.fold != FoldKind::Product));
        }
        Offer offer = newOffer(context, body.stmt(context.kernel.loops[tree.loop].statement).span);
        offer.title = fmt::format("Reduce {} with warp shuffles", names);
        offer.why =
            fmt::format("the loop on line {} folds {} in shared memory with a barrier each step; "
                        "every launch has whole warps",
                        lineNumber(context, offer.anchor.begin), names);
        offer.numerics = isExact ? Numerics::Exact : Numerics::Reassociates;
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const TreeReduction& tree) const override {
        return shuffleEdits(context, context.code(), tree);
    }
};

} // namespace

KERNELSKILL_SKILL(WarpShuffleReductionSkill)

} // namespace kernelskill::skills
