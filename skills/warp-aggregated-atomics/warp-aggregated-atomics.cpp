/// Lets the threads of a block reserve their places in a common array by one atomic.
#include "analysis/source/gpu_constants.h"
#include "skills/base/planned_skill.h"
#include "skills/warp-aggregated-atomics/counter_push.h"
#include "skills/warp-aggregated-atomics/push_edits.h"

#include <spdlog/fmt/fmt.h>

#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

std::optional<ExpectedGain> gainOf(const CounterPush& push) {
    const std::int64_t before =
        push.isCombined ? push.launched.most / warpLanes : push.launched.most;
    if (before <= 1)
        return std::nullopt;
    return ExpectedGain{
        static_cast<double>(before),
        fmt::format("{} updates of a block become one at the L2 cache, if they take all the time{}",
                    before,
                    push.isCombined ? "; compilers combine those of a warp themselves" : "")};
}

class WarpAggregatedAtomicsSkill : public PlannedSkill<CounterPush> {
    Gated<CounterPush> plan(const SkillContext& context) const override {
        return findCounterPush(context);
    }

    Gated<Offer> offer(const SkillContext& context, const CounterPush& push) const override {
        const FunctionBody& body = context.kernel.body;
        if (push.isCombined && push.launched.most > 0 && push.launched.most <= warpLanes)
            return refuse("combined-already",
                          "compilers combine the updates of a warp themselves, and a block has no "
                          "more than one");
        Offer offer = newOffer(context, body.expr(push.call).span);
        offer.title =
            fmt::format("Take places of {} for a whole block by one atomic", push.counter);
        offer.why = fmt::format("each thread that comes to line {} updates {} for itself, and all "
                                "updates take turns at one address",
                                lineNumber(context, offer.anchor.begin), push.counter);
        offer.gain = gainOf(push);
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const CounterPush& push) const override {
        return pushEdits(context, push);
    }
};

} // namespace

KERNELSKILL_SKILL(WarpAggregatedAtomicsSkill)

} // namespace kernelskill::skills
