/// Exchanges two loops of each thread, so that its rounds go through memory in short steps.
#include "analysis/source/gpu_constants.h"
#include "skills/base/planned_skill.h"
#include "skills/loop-interchange/exchange_plan.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class LoopInterchangeSkill : public VariedSkill<ExchangePlan, NoOption> {
    [[nodiscard]] Gated<ExchangePlan> plan(const SkillContext& context) const override {
        return exchangePlan(context);
    }

    /// A cursor on the outer loop is on loops in it as well.
    [[nodiscard]] Gated<ExchangePlan> planOf(const SkillContext& context,
                                             const Offer& offer) const override {
        return exchangePlanOf(context, offer.anchor);
    }

    [[nodiscard]] Gated<std::vector<Offer>> offers(const SkillContext& context,
                                                   const ExchangePlan& found) const override {
        if (!found.walk)
            return std::unexpected(found.walk.error());
        const ShorterWalk& walk = *found.walk;
        Offer offer = offerFor(context, found);
        offer.why = fmt::format(
            "from round to round of the loop on line {}, {} on line {} moves by {} elements, away "
            "from the sector of {} bytes that was loaded; with the loop on line {} in it, by {}",
            lineOf(context, found.inner), walk.access, walk.line, walk.before, sectorBytes,
            lineOf(context, found.outer), walk.after);
        offer.gain = {.factor = walk.sectorsBefore / walk.sectorsAfter,
                      .basis = fmt::format("a round of a thread asks for {:.2f} sectors of {} "
                                           "bytes before and {:.2f} after",
                                           walk.sectorsBefore, sectorBytes, walk.sectorsAfter)};
        return std::vector{std::move(offer)};
    }

    /// Exchanging the loops back is nothing to try.
    [[nodiscard]] Gated<std::vector<Offer>> trials(const SkillContext& context,
                                                   const ExchangePlan& found) const override {
        if (!found.walk && found.walk.error().gate == "longer-steps")
            return std::unexpected(found.walk.error());
        Offer offer = offerFor(context, found);
        offer.why =
            fmt::format("the rounds of the loops on lines {} and {} may run in either order",
                        lineOf(context, found.outer), lineOf(context, found.inner));
        return std::vector{std::move(offer)};
    }

    [[nodiscard]] GatedEdits editsFor(const SkillContext& context, const ExchangePlan& found,
                                      NoOption) const override {
        const auto text = [&](Span span) { return std::string(context.file.source->slice(span)); };
        return std::vector<TextEdit>{{found.outerHead, text(found.innerHead)},
                                     {found.innerHead, text(found.outerHead)}};
    }

    [[nodiscard]] static Span spanOf(const SkillContext& context, const AdvancingLoop& loop) {
        return context.kernel.body.stmt(context.kernel.loops[loop.counted.loop].statement).span;
    }
    [[nodiscard]] static std::uint32_t lineOf(const SkillContext& context,
                                              const AdvancingLoop& loop) {
        return lineNumber(context, spanOf(context, loop).begin);
    }

    [[nodiscard]] Offer offerFor(const SkillContext& context, const ExchangePlan& found) const {
        const FunctionBody& body = context.kernel.body;
        Offer offer = newOffer(context, spanOf(context, found.outer));
        offer.title =
            fmt::format("Exchange the loops over {} and {}", body.variable(found.outer.index).name,
                        body.variable(found.inner.index).name);
        offer.numerics = found.numerics;
        return offer;
    }
};

} // namespace

KERNELSKILL_SKILL(LoopInterchangeSkill)

} // namespace kernelskill::skills
