/// Computes a costly function once: before the loop that does not change it, or once a block.
#include "skills/base/planned_skill.h"
#include "skills/invariant-hoisting/block_value.h"
#include "skills/invariant-hoisting/hoist.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Values of one loop, or of the block.
struct Hoisting {
    std::vector<InvariantValue> ofLoop;
    std::vector<BlockValue> ofBlock; ///< Empty if there are values of a loop.
};

/// The number of instructions of a round without the functions that leave it.
double otherWork(const SkillContext& context, const std::vector<InvariantValue>& values) {
    const CodeMap& code = context.code();
    const FunctionBody& body = context.kernel.body;
    double work = 1;
    for (const ExprId id : code.expressionsIn(values.front().loop)) {
        const bool leaves = std::ranges::any_of(values, [&](const InvariantValue& value) {
            return std::ranges::any_of(value.uses, [&](ExprId use) {
                return body.expr(use).span.contains(body.expr(id).span);
            });
        });
        if (leaves)
            continue;
        const Expr& expr = body.expr(id);
        const auto function = costlyFunction(expr);
        const bool isWork = expr.kind == ExprKind::Binary || expr.kind == ExprKind::Unary ||
                            expr.kind == ExprKind::Subscript || expr.kind == ExprKind::Call;
        work += function ? function->instructions : isWork ? 1 : 0;
    }
    return work;
}

class InvariantHoistingSkill : public PlannedSkill<Hoisting> {
    [[nodiscard]] Gated<Hoisting> plan(const SkillContext& context) const override {
        KERNELSKILL_CHECK(requireEditable(context));
        auto ofLoops = invariantValues(context);
        if (ofLoops)
            return Hoisting{atCursor(context, *std::move(ofLoops)), {}};
        auto ofBlock = blockValues(context);
        if (ofBlock)
            return Hoisting{{}, *std::move(ofBlock)};
        const bool isCloser = ofBlock.error().gate != "no-uniform-function" &&
                              ofLoops.error().gate == "no-invariant-function";
        return std::unexpected(isCloser ? std::move(ofBlock.error()) : std::move(ofLoops.error()));
    }

    [[nodiscard]] Gated<Offer> offer(const SkillContext& context,
                                     const Hoisting& found) const override {
        return found.ofLoop.empty() ? offerOfBlock(context, found.ofBlock)
                                    : offerOfLoop(context, found.ofLoop);
    }

    [[nodiscard]] GatedEdits edits(const SkillContext& context,
                                   const Hoisting& found) const override {
        Draft draft(context);
        if (found.ofLoop.empty())
            computeOnce(draft, context, found.ofBlock, sharedNames(context, found.ofBlock));
        else
            hoist(draft, context, found.ofLoop, valueNames(context, found.ofLoop));
        return draft.edits();
    }

    /// Returns the values of the loop at the cursor, else those of the first loop.
    static std::vector<InvariantValue> atCursor(const SkillContext& context,
                                                std::vector<InvariantValue> all) {
        const FunctionBody& body = context.kernel.body;
        StmtId loop = all.front().loop;
        for (const InvariantValue& value : all)
            if (context.isCursorAt(body.stmt(value.loop).span))
                loop = value.loop;
        std::erase_if(all, [&](const InvariantValue& value) { return value.loop != loop; });
        return all;
    }

    [[nodiscard]] Offer offerOfLoop(const SkillContext& context,
                                    const std::vector<InvariantValue>& values) const {
        const FunctionBody& body = context.kernel.body;
        const InvariantValue& first = values.front();
        const std::string function = body.expr(first.call).name;
        const Span loop = body.stmt(first.loop).span;
        Offer offer = newOffer(context, loop);
        offer.title = fmt::format("Evaluate {} once before the loop", function);
        offer.why =
            fmt::format("{} on line {} has the same arguments in all rounds of the loop on line "
                        "{}; nvcc leaves "
                        "it there, since {}",
                        function, lineNumber(context, body.expr(first.call).span.begin),
                        lineNumber(context, loop.begin),
                        first.inEveryRound ? "its code branches"
                                           : "a condition decides whether a round needs it");
        double removed = 0;
        for (const InvariantValue& value : values)
            removed += value.inEveryRound ? value.function.instructions : 0;
        const double others = otherWork(context, values);
        if (removed > 0)
            offer.gain = ExpectedGain{
                (others + removed) / others,
                fmt::format("a round has about {:g} instructions of such functions beside {:g} "
                            "others, if arithmetic takes all the time",
                            removed, others)};
        return offer;
    }

    [[nodiscard]] Offer offerOfBlock(const SkillContext& context,
                                     const std::vector<BlockValue>& values) const {
        const FunctionBody& body = context.kernel.body;
        const Expr& first = body.expr(values.front().uses.front());
        double removed = 0;
        for (const BlockValue& value : values)
            removed += value.function.instructions;
        Offer offer = newOffer(context, first.span);
        offer.title =
            values.size() == 1
                ? fmt::format("Compute {} once a block", context.file.source->slice(first.span))
                : fmt::format("Compute {} uniform values once a block", values.size());
        offer.why = fmt::format(
            "all threads of a block compute {} on line {} alike, which takes each of them about "
            "{:g} instructions{}",
            context.file.source->slice(first.span), lineNumber(context, first.span.begin), removed,
            values.size() == 1 ? "" : " with the others of its kind");
        return offer;
    }
};

} // namespace

KERNELSKILL_SKILL(InvariantHoistingSkill)

} // namespace kernelskill::skills
