#include "skills/vectorization-refinement/vectorization-refinement.h"

#include "skills/rewriting/element_groups.h"
#include "skills/rewriting/gates.h"
#include "skills/rewriting/shared_analysis.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view skillId = "vectorization-refinement";

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

/// The kernel's pairs in groups of two. Only where threads go on to further elements: with one
/// element a thread, those that are resident have enough bytes under way with 8 each.
std::expected<ElementGroups, Refusal> findGroups(const SkillContext& context, const CodeMap& code) {
    auto groups = planElementGroups(context, code, GroupedElements::Pairs);
    if (groups && !groups->isGridStride)
        return refuse(
            "one-element-a-thread",
            fmt::format("each thread of {} works on one element, so that as many accesses "
                        "are under way as threads fit",
                        context.kernel.name));
    return groups;
}

class VectorizationRefinement final : public Skill {
public:
    [[nodiscard]] std::string_view id() const override { return skillId; }

    [[nodiscard]] std::expected<Offer, Refusal>
    prepare(const SkillContext& context) const override {
        const CodeMap& code = context.shared().code();
        const auto groups = findGroups(context, code);
        if (!groups)
            return std::unexpected(groups.error());
        std::string names;
        for (const Stream& stream : groups->streams)
            names += fmt::format("{}{} as {}", names.empty() ? "" : ", ", stream.name, stream.type);
        const Stream& pairs = *std::ranges::find_if(
            groups->streams, [](const Stream& stream) { return !stream.pairs.empty(); });
        Offer offer;
        offer.skillId = skillId;
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = groupedSpan(code, *groups);
        offer.title = fmt::format("Access two elements at once: {}", names);
        offer.why = fmt::format("each access to {} on and below line {} moves 8 bytes, and one may "
                                "move 16; {}",
                                pairs.name, lineNumber(context, offer.anchor.begin),
                                launchConsequence(context, *groups));
        offer.option = groups->lanes;
        offer.numerics = Numerics::Exact;
        const double operations = operationsOf(code, *groups);
        const auto accesses = static_cast<double>(groups->accesses.size());
        const auto checks = static_cast<double>(groups->streams.size());
        const double one = 2 * (operations + accesses + overhead);
        const double both = 2 * operations + accesses + overhead + checks;
        offer.gain = ExpectedGain{
            one / both, fmt::format("two elements take about {} instructions instead of {}, and "
                                    "each thread has twice the bytes under way",
                                    both, one)};
        return offer;
    }

    [[nodiscard]] Result<EditSet> apply(const SkillContext& context, const Offer&) const override {
        const CodeMap& code = context.shared().code();
        const auto groups = findGroups(context, code);
        if (!groups)
            return std::unexpected(unsupported(context, groups.error()));
        return groupEdits(context, code, *groups);
    }
};

} // namespace

std::unique_ptr<Skill> makeVectorizationRefinement() {
    return std::make_unique<VectorizationRefinement>();
}

} // namespace kernelskill::skills
