/// Lets threads march along an axis of a stencil and keep what they loaded for the next points.
#include "skills/base/planned_skill.h"
#include "skills/editing/grid_size.h"
#include "skills/stencil-tiling/stencil_plan.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// How many points of an axis a thread is given; 0: as many as the kernel's own loop has rounds.
enum class Points : int {};

class StencilTilingSkill : public VariedSkill<StencilPlan, Points> {
    Gated<StencilPlan> plan(const SkillContext& context) const override {
        return planStencil(context);
    }

    Gated<std::vector<Offer>> offers(const SkillContext& context,
                                     const StencilPlan& plan) const override {
        if (!plan.march)
            return std::vector{offerQueues(context, plan)};
        std::vector<Offer> all;
        for (const int points : plan.points)
            all.push_back(offerMarch(context, plan, points));
        return all;
    }

    [[nodiscard]] static std::string loads(const Queues& queues) {
        return fmt::format("{} of the {} loads of a point are left", queues.after, queues.before);
    }

    [[nodiscard]] Offer offerQueues(const SkillContext& context, const StencilPlan& plan) const {
        const FunctionBody& body = context.kernel.body;
        const std::string& name = body.variable(plan.loop.iterator).name;
        Offer offer = newOffer(context, body.stmt(plan.loop.loop).span);
        offer.title = fmt::format("Keep what the loop over {} loads in registers", name);
        offer.why = fmt::format("rounds of {} on line {} load again what the round before loaded: "
                                "{}",
                                name, lineNumber(context, offer.anchor.begin), loads(plan.queues));
        offer.gain = gain(plan.queues);
        return offer;
    }

    [[nodiscard]] Offer offerMarch(const SkillContext& context, const StencilPlan& plan,
                                   int points) const {
        const FunctionBody& body = context.kernel.body;
        const std::string& name = body.variable(plan.march->index).name;
        Offer offer =
            newOffer(context, body.stmt(plan.march->guards.front().statement).span, Points{points});
        offer.title = fmt::format("Let each thread of {} march over {} points along {}",
                                  context.kernel.name, points, name);
        offer.why =
            fmt::format("threads whose {} is next to each other load the same: in one "
                        "thread, which keeps them in registers, {}; the launch{} get{} a "
                        "grid {} times smaller",
                        name, loads(plan.queues), context.kernel.launches.size() == 1 ? "" : "es",
                        context.kernel.launches.size() == 1 ? "s" : "", points);
        offer.gain = gain(plan.queues);
        return offer;
    }

    [[nodiscard]] static ExpectedGain gain(const Queues& queues) {
        return {static_cast<double>(queues.before) / std::max(1, queues.after),
                "loads of a point by itself, over those of a thread that keeps its last ones"};
    }

    GatedEdits editsFor(const SkillContext& context, const StencilPlan& plan,
                        Points points) const override {
        if (!plan.march)
            return queueEdits(context, plan.loop, plan.queues);
        const int count = static_cast<int>(points);
        if (std::ranges::find(plan.points, count) == plan.points.end())
            return refuse("points", fmt::format("{} no longer fits {} points a thread",
                                                context.kernel.name, count));
        std::vector<TextEdit> edits = marchEdits(context, *plan.march, plan.queues, count);
        std::array divisors{1, 1, 1};
        divisors.at(plan.march->axis) = count;
        for (const LaunchSite& launch : context.kernel.launches)
            std::ranges::move(dividedGridAxes(context, launch, divisors),
                              std::back_inserter(edits));
        return edits;
    }
};

} // namespace

KERNELSKILL_SKILL(StencilTilingSkill)

} // namespace kernelskill::skills
