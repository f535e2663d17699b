/// Stages the operands of a block's outputs in shared memory.
#include "skills/base/planned_skill.h"
#include "skills/schedule/tile_contraction.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

struct StagingPlan {
    Contraction found;
    TileShape shape;
};

class SharedMemoryTilingSkill : public PlannedSkill<StagingPlan> {
    [[nodiscard]] Gated<StagingPlan> plan(const SkillContext& context) const override {
        KERNELSKILL_TRY(Contraction found, contraction(context));
        KERNELSKILL_TRY(const TileShape shape, plainTile(context, found));
        return StagingPlan{std::move(found), shape};
    }

    [[nodiscard]] Gated<Offer> offer(const SkillContext& context,
                                     const StagingPlan& plan) const override {
        const FunctionBody& body = context.kernel.body;
        const OutputAxes& axes = plan.found.axes;
        Offer offer = newOffer(context, body.stmt(plan.found.loops.front().statement).span);
        offer.title = fmt::format("Stage the operands of {} in shared memory", context.kernel.name);
        offer.why = fmt::format(
            "the {} x {} outputs of a block use the same operands along {} and {}: each thread "
            "loads them for itself in the loop on line {}",
            axes.slow.threads, axes.fast.threads, body.variable(axes.slow.variable).name,
            body.variable(axes.fast.variable).name, lineNumber(context, offer.anchor.begin));
        return offer;
    }

    [[nodiscard]] GatedEdits edits(const SkillContext& context,
                                   const StagingPlan& plan) const override {
        Draft draft(context);
        tileContraction(draft, context, plan.found, plan.shape);
        return draft.edits();
    }
};

} // namespace

KERNELSKILL_SKILL(SharedMemoryTilingSkill)

} // namespace kernelskill::skills
