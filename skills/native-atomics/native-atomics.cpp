/// Replaces loops around a compare-and-swap by the atomic function that does the same.
#include "skills/base/planned_skill.h"
#include "skills/native-atomics/retry_loop.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class NativeAtomicsSkill : public PlannedSkill<RetryLoop> {
    [[nodiscard]] Gated<RetryLoop> plan(const SkillContext& context) const override {
        KERNELSKILL_CHECK(requireEditable(context));
        return retryLoop(context);
    }

    [[nodiscard]] Gated<Offer> offer(const SkillContext& context,
                                     const RetryLoop& found) const override {
        const Span loop = found.function->body.stmt(found.loop).span;
        // An offer is about a place in the kernel.
        Offer offer =
            newOffer(context, found.function == &context.kernel ? loop : context.kernel.nameSpan);
        offer.title = fmt::format("Let {} do what a loop tries", found.atomic);
        offer.why = fmt::format("the loop on line {} swaps until no other thread came between; {} "
                                "does the same in one step, in the cache where the number is",
                                lineNumber(context, loop.begin), found.atomic);
        return offer;
    }

    [[nodiscard]] GatedEdits edits(const SkillContext&, const RetryLoop& found) const override {
        return std::vector<TextEdit>{{found.function->body.stmt(found.loop).span, found.text}};
    }
};

} // namespace

KERNELSKILL_SKILL(NativeAtomicsSkill)

} // namespace kernelskill::skills
