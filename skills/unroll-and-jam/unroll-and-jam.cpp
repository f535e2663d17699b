/// Lets several rounds of an outer loop go through its inner loops together.
#include "skills/base/planned_skill.h"
#include "skills/unroll-and-jam/jam_plan.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The number of rounds that go together.
enum class RoundCount : int {};

class UnrollAndJamSkill : public VariedSkill<JamPlan, RoundCount> {
    [[nodiscard]] Gated<JamPlan> plan(const SkillContext& context) const override {
        return jamPlan(context);
    }

    [[nodiscard]] Gated<std::vector<Offer>> offers(const SkillContext& context,
                                                   const JamPlan& found) const override {
        std::vector<Offer> all;
        for (const int count : {4, 2, 8})
            if (!found.rounds || *found.rounds >= count)
                all.push_back(offerFor(context, found, count));
        if (all.empty())
            return refuse("one-round", "the loop has a single round");
        return all;
    }

    [[nodiscard]] GatedEdits editsFor(const SkillContext& context, const JamPlan& found,
                                      RoundCount option) const override {
        Draft draft(context);
        jam(draft, context, found, static_cast<int>(option));
        return draft.edits();
    }

    [[nodiscard]] Offer offerFor(const SkillContext& context, const JamPlan& found,
                                 int count) const {
        const FunctionBody& body = context.kernel.body;
        const auto spanOf = [&](std::uint32_t loop) {
            return body.stmt(context.kernel.loops[loop].statement).span;
        };
        const Span outer = spanOf(found.outer.counted.loop);
        Offer offer = newOffer(context, outer, static_cast<RoundCount>(count));
        offer.title = fmt::format("Run {} rounds of the loop on line {} at once", count,
                                  lineNumber(context, outer.begin));
        offer.why =
            fmt::format("each round loads {} again in the loop on line {}; {} rounds that "
                        "go through it together load it once",
                        found.shared, lineNumber(context, spanOf(found.inner).begin), count);
        offer.gain = {.factor = found.gain(count),
                      .basis = fmt::format("{} loads of {} rounds become {}",
                                           count * (found.sharedLoads + found.ownLoads), count,
                                           found.sharedLoads + count * found.ownLoads)};
        return offer;
    }
};

} // namespace

KERNELSKILL_SKILL(UnrollAndJamSkill)

} // namespace kernelskill::skills
