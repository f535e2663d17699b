/// Divides positions of 64 bits in 32 bits where they fit.
#include "skills/base/planned_skill.h"
#include "skills/index-narrowing/narrow.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The cost of a division by a number that the compiler does not know, where both operands are
/// small: nvcc asks 64 bits for that first. The ratios are those of loops that do little else
/// (docs/measurements/invariants-and-widths.md).
constexpr double wideDivision = 36;
constexpr double signedDivision = 26;
constexpr double unsignedDivision = 18;

/// Fewer divisions a thread, outside of loops, hide behind its loads (H200).
constexpr int manyDivisions = 3;

class IndexNarrowingSkill : public PlannedSkill<WideDivisions> {
    [[nodiscard]] Gated<WideDivisions> plan(const SkillContext& context) const override {
        KERNELSKILL_CHECK(requireEditable(context));
        KERNELSKILL_TRY(WideDivisions found, wideDivisions(context));
        if (found.loop == noId && (found.pairs < manyDivisions || !isUnsigned(found)))
            return refuse("few-divisions",
                          fmt::format("each thread of {} divides {} times, from line {} on, which "
                                      "its loads hide",
                                      context.kernel.name, found.pairs, lineOf(context, found)));
        return found;
    }

    [[nodiscard]] Gated<Offer> offer(const SkillContext& context,
                                     const WideDivisions& found) const override {
        const FunctionBody& body = context.kernel.body;
        const Span first = body.expr(found.all.front().division).span;
        Offer offer = newOffer(context, found.loop == noId ? first : body.stmt(found.loop).span);
        offer.title =
            found.all.size() == 1
                ? fmt::format("Divide in 32 bits in {}", context.file.source->slice(first))
                : fmt::format("Divide in 32 bits in {} places", found.all.size());
        offer.why = fmt::format("{} on line {}{} divides in 64 bits, although what it divides and "
                                "what it divides by fit 32",
                                context.file.source->slice(first), lineOf(context, found),
                                found.loop == noId ? "" : ", in a loop,");
        const double narrowDivision = isUnsigned(found) ? unsignedDivision : signedDivision;
        offer.gain = ExpectedGain{
            wideDivision / narrowDivision,
            fmt::format("a division takes about {:g} instructions instead of {:g}, if divisions "
                        "take all the time",
                        narrowDivision, wideDivision)};
        return offer;
    }

    [[nodiscard]] GatedEdits edits(const SkillContext& context,
                                   const WideDivisions& found) const override {
        Draft draft(context);
        narrow(draft, context, found);
        return draft.edits();
    }

    static bool isUnsigned(const WideDivisions& found) {
        return std::ranges::all_of(found.all, &WideDivision::isUnsigned);
    }

    static std::uint32_t lineOf(const SkillContext& context, const WideDivisions& found) {
        return lineNumber(context, context.kernel.body.expr(found.all.front().division).span.begin);
    }
};

} // namespace

KERNELSKILL_SKILL(IndexNarrowingSkill)

} // namespace kernelskill::skills
