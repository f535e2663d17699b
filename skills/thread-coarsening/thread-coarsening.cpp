/// Gives a thread several neighbouring rows of a two-dimensional result.
#include "skills/base/planned_skill.h"
#include "skills/editing/grid_size.h"
#include "skills/thread-coarsening/coarsening_plan.h"
#include "skills/thread-coarsening/row_copies.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// How many rows a thread is given.
enum class Rows : int {};

class ThreadCoarseningSkill : public PlannedSkill<CoarseningPlan, Rows> {
    Gated<CoarseningPlan> plan(const SkillContext& context) const override {
        return planCoarsening(context, context.code());
    }

    Gated<Offer> offer(const SkillContext& context, const CoarseningPlan& plan) const override {
        const FunctionBody& body = context.kernel.body;
        Offer offer = newOffer(context, body.stmt(plan.work.guards.front()).span, Rows{plan.rows});
        offer.title = fmt::format("Give each thread of {} {} rows", context.kernel.name, plan.rows);
        offer.why = fmt::format("threads whose {} is next to each other load the same: {} rows in "
                                "one thread need {:.0f} % of the loads (line {}); the launch{} "
                                "get{} a grid {} times smaller",
                                body.variable(plan.work.row).name, plan.rows,
                                100 * plan.loads.after / plan.loads.before,
                                lineNumber(context, offer.anchor.begin),
                                context.kernel.launches.size() == 1 ? "" : "es",
                                context.kernel.launches.size() == 1 ? "s" : "", plan.rows);
        offer.gain = ExpectedGain{plan.loads.before / plan.loads.after,
                                  "loads of several rows by threads of their own, over those by "
                                  "one thread"};
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const CoarseningPlan& plan) const override {
        std::vector<TextEdit> edits = rowCopies(context, plan);
        for (const LaunchSite& launch : context.kernel.launches)
            edits.push_back(*dividedGridY(context, launch, plan.rows));
        return edits;
    }
};

} // namespace

KERNELSKILL_SKILL(ThreadCoarseningSkill)

} // namespace kernelskill::skills
