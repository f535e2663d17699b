/// Moves two elements that already are pairs with one access of 16 bytes.
#include "skills/base/planned_skill.h"
#include "skills/editing/group_writer.h"
#include "skills/gates/element_groups.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Instructions of a thread for its index, its bounds check and its addresses.
constexpr double overhead = 6;

/// Operations on one element, accesses left out.
double operationsOf(const CodeMap& code, const ElementGroups& groups) {
    double count = 0;
    for (const StmtId work : groups.work)
        for (const ExprId id : code.expressionsIn(work)) {
            const Expr& expr = code.body().expr(id);
            const bool isOperation = expr.kind == ExprKind::Call || expr.kind == ExprKind::Unary ||
                                     (expr.kind == ExprKind::Binary && expr.op != "=");
            count += isOperation ? 1 : 0;
        }
    return count;
}

class VectorizationRefinementSkill : public PlannedSkill<ElementGroups, Lanes> {
    /// The kernel's pairs in groups of two. Only where threads go on to further elements: with one
    /// element a thread, those that are resident have enough bytes under way with 8 each.
    Gated<ElementGroups> plan(const SkillContext& context) const override {
        auto groups = planElementGroups(context, context.code(), GroupedElements::Pairs);
        if (groups && !groups->isGridStride)
            return refuse(
                "one-element-a-thread",
                fmt::format("each thread of {} works on one element, so that as many accesses "
                            "are under way as threads fit",
                            context.kernel.name));
        return groups;
    }

    Gated<Offer> offer(const SkillContext& context, const ElementGroups& groups) const override {
        std::string names;
        for (const Stream& stream : groups.streams)
            names += fmt::format("{}{} as {}", names.empty() ? "" : ", ", stream.name, stream.type);
        const Stream& pairs = *std::ranges::find_if(
            groups.streams, [](const Stream& stream) { return !stream.pairs.empty(); });
        Offer offer = newOffer(context, groupedSpan(context.code(), groups), Lanes{groups.lanes});
        offer.title = fmt::format("Access two elements at once: {}", names);
        offer.why = fmt::format("each access to {} on and below line {} moves 8 bytes, and one may "
                                "move 16; {}",
                                pairs.name, lineNumber(context, offer.anchor.begin),
                                launchConsequence(context, groups));
        const double operations = operationsOf(context.code(), groups);
        const auto accesses = static_cast<double>(groups.accesses.size());
        const auto checks = static_cast<double>(groups.streams.size());
        const double one = 2 * (operations + accesses + overhead);
        const double both = 2 * operations + accesses + overhead + checks;
        offer.gain = ExpectedGain{
            one / both, fmt::format("two elements take about {} instructions instead of {}, and "
                                    "each thread has twice the bytes under way",
                                    both, one)};
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const ElementGroups& groups) const override {
        return groupEdits(context, context.code(), groups);
    }
};

} // namespace

KERNELSKILL_SKILL(VectorizationRefinementSkill)

} // namespace kernelskill::skills
