#include "skills/loop-interchange/exchange_plan.h"

#include "analysis/nest/nest.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"
#include "skills/gates/order_free.h"
#include "skills/loop-interchange/round_folds.h"
#include "skills/schedule/term_loop.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class ExchangePlanner {
public:
    ExchangePlanner(const SkillContext& context, std::uint32_t index)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          index_(index), outerLoop_(kernel_.loops.at(index)) {}

    Gated<ExchangePlan> plan() {
        KERNELSKILL_TRY(const std::uint32_t innerIndex, onlyLoop());
        const Loop& innerLoop = kernel_.loops.at(innerIndex);
        for (const Loop* loop : {&outerLoop_, &innerLoop})
            KERNELSKILL_CHECK(requirePlainHead(*loop));
        KERNELSKILL_TRY(outer_,
                        readAdvancingLoop(context_, code_, index_, {.place = LoopPlace::Anywhere}));
        KERNELSKILL_TRY(
            inner_, readAdvancingLoop(context_, code_, innerIndex, {.place = LoopPlace::Anywhere}));
        for (const AdvancingLoop* loop : {&outer_, &inner_})
            if (loop->counted.start == noId)
                return refuse("not-counted-up",
                              fmt::format("the loop on line {} does not set its index",
                                          line(kernel_.loops[loop->counted.loop].statement)));
        KERNELSKILL_CHECK(requireIndependentBounds(innerLoop));
        KERNELSKILL_CHECK(requireVisibleNames());
        KERNELSKILL_CHECK(requireOrderFree(context_, outerLoop_));
        KERNELSKILL_CHECK(requireNoBreak(innerLoop));
        KERNELSKILL_TRY(const Numerics numerics, exchangedNumerics(context_, outer_, inner_));
        return ExchangePlan{.outer = outer_,
                            .inner = inner_,
                            .outerHead = headOf(outerLoop_),
                            .innerHead = headOf(innerLoop),
                            .numerics = numerics,
                            .walk = shorterWalk(context_, outer_, inner_)};
    }

private:
    [[nodiscard]] std::uint32_t line(StmtId stmt) const {
        return lineNumber(context_, body_.stmt(stmt).span.begin);
    }
    [[nodiscard]] std::uint32_t lineOf(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }

    /// The loop that is all of the outer one's body.
    [[nodiscard]] Gated<std::uint32_t> onlyLoop() const {
        if (std::ranges::find(kernel_.loops, index_, &Loop::parent) == kernel_.loops.end())
            return refuse("no-inner-loop", fmt::format("the loop on line {} has no loop in it",
                                                       line(outerLoop_.statement)));
        const std::vector<StmtId> statements = code_.statementsOf(outerLoop_.body);
        const auto found = statements.size() == 1
                               ? std::ranges::find(kernel_.loops, statements[0], &Loop::statement)
                               : kernel_.loops.end();
        if (found == kernel_.loops.end())
            return refuse("imperfect-nest",
                          fmt::format("the loop on line {} does more than to run a loop in it",
                                      line(outerLoop_.statement)));
        return static_cast<std::uint32_t>(found - kernel_.loops.begin());
    }

    /// Requires a `for` on lines of its own, which each thread runs for itself and no pragma is
    /// about.
    [[nodiscard]] Gated<void> requirePlainHead(const Loop& loop) const {
        const std::uint32_t at = line(loop.statement);
        const Stmt& stmt = body_.stmt(loop.statement);
        if (loop.kind != LoopKind::For || stmt.fromMacro ||
            !isWrittenAs(*context_.file.source, stmt.span, {"for"}))
            return refuse("not-counted-up",
                          fmt::format("the loop on line {} is not a counted for loop", at));
        if (!stmt.pragma.empty())
            return refuse("pragma",
                          fmt::format("the loop on line {} has #pragma {}", at, stmt.pragma));
        const Nest& nest = context_.shared().nest();
        if (const NestNodeId node = loopNode(nest, loop.statement);
            node != noId && nest.node(node).loop()->style != NestLoopStyle::Serial)
            return refuse("shared-rounds",
                          fmt::format("threads share the rounds of the loop on line {}", at));
        const std::vector<Token> head = lex(context_.file.source->text(), headOf(loop));
        if (std::ranges::find(head, TokenKind::Directive, &Token::kind) != head.end())
            return refuse("directive",
                          fmt::format("a directive stands in the head of the loop on line {}", at));
        return requireOwnLines(context_, code_, loop);
    }

    /// Requires heads that say the same on either side of the other.
    [[nodiscard]] Gated<void> requireIndependentBounds(const Loop& innerLoop) const {
        const auto depends = [&](ExprId part, const Loop& loop) {
            return refuse("bounds-depend",
                          fmt::format("{} on line {} may change in the loop on "
                                      "line {}",
                                      text(part), lineOf(part), line(loop.statement)));
        };
        for (const ExprId part :
             {inner_.counted.start, inner_.counted.limit, inner_.counted.step}) {
            if (part == noId)
                continue;
            if (!isFixed(code_, outerLoop_, part) || names(part, [&](const Variable& variable) {
                    return &variable == &body_.variable(outer_.index);
                }))
                return depends(part, outerLoop_);
            KERNELSKILL_CHECK(requireNoDivision(part));
        }
        if (!isFixed(code_, outerLoop_, outer_.counted.start))
            return depends(outer_.counted.start, innerLoop);
        return {};
    }

    /// The inner loop's head is reached where the outer loop has no rounds, too.
    [[nodiscard]] Gated<void> requireNoDivision(ExprId part) const {
        for (const ExprId id : code_.expressionsBelow(part)) {
            const Expr& expr = body_.expr(id);
            if (expr.kind == ExprKind::Binary && (expr.op == "/" || expr.op == "%") &&
                code_.constantValue(expr.children[1]).value_or(0) == 0)
                return refuse("divides",
                              fmt::format("{} on line {} would also be evaluated where "
                                          "the loop on line {} has no rounds",
                                          text(id), lineOf(id), line(outerLoop_.statement)));
        }
        return {};
    }

    /// Requires that the outer head means the same behind the inner loop's declaration.
    [[nodiscard]] Gated<void> requireVisibleNames() const {
        const std::string& name = body_.variable(inner_.index).name;
        const auto isHidden = [&](const Variable& variable) { return variable.name == name; };
        for (const ExprId part : {outer_.counted.start, outer_.counted.limit, outer_.counted.step})
            if (part != noId && names(part, isHidden))
                return hidden(name);
        return isHidden(body_.variable(outer_.index)) ? hidden(name) : Gated<void>{};
    }
    [[nodiscard]] Gated<void> hidden(const std::string& name) const {
        return refuse("hidden-name", fmt::format("the head on line {} uses another {} than the "
                                                 "loop in it",
                                                 line(outerLoop_.statement), name));
    }

    template <typename Predicate>
    [[nodiscard]] bool names(ExprId root, const Predicate& isMeant) const {
        return std::ranges::any_of(code_.expressionsBelow(root), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            return expr.kind == ExprKind::Variable && expr.variable != noId &&
                   isMeant(body_.variable(expr.variable));
        });
    }

    /// A `continue` ends a round in either order; a `break` would end other ones.
    [[nodiscard]] Gated<void> requireNoBreak(const Loop& innerLoop) const {
        for (const StmtId id : code_.statementsIn(innerLoop.body))
            if (body_.stmt(id).kind == StmtKind::Break && isAbout(code_, body_.stmt(id), innerLoop))
                return refuse("leaves-loop", fmt::format("line {} ends the loop on line {} early",
                                                         line(id), line(innerLoop.statement)));
        return {};
    }

    /// Returns the text range between the brackets behind `for`.
    [[nodiscard]] Span headOf(const Loop& loop) const {
        const Span span = body_.stmt(loop.statement).span;
        const std::vector<Token> tokens = lex(context_.file.source->text(), span);
        return {tokens[1].span.end, tokens[matchingBracket(tokens, 1)].span.begin};
    }

    [[nodiscard]] std::string_view text(ExprId expr) const {
        return context_.file.source->slice(body_.expr(expr).span);
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    std::uint32_t index_;
    const Loop& outerLoop_;
    AdvancingLoop outer_;
    AdvancingLoop inner_;
};

Likeness likenessOf(std::uint32_t, const Refusal& refusal) {
    return refusal.gate == "no-inner-loop" || refusal.gate == "imperfect-nest" ? Likeness::None
                                                                               : Likeness::Near;
}

/// Holds a plan, or a refusal, for each loop of the kernel as the outer one. Cursors do not change
/// them.
struct ExchangePlans {
    std::vector<Gated<ExchangePlan>> ofLoops;
};

const ExchangePlans& plansOf(const SkillContext& context) {
    return context.held<ExchangePlans>(nullptr, [&] {
        ExchangePlans plans;
        for (std::uint32_t i = 0; i < context.kernel.loops.size(); ++i)
            plans.ofLoops.push_back(ExchangePlanner(context, i).plan());
        return plans;
    });
}

} // namespace

Gated<ExchangePlan> exchangePlan(const SkillContext& context) {
    KERNELSKILL_CHECK(requireEditable(context));
    const std::vector<Gated<ExchangePlan>>& plans = plansOf(context).ofLoops;
    auto gainful = chooseLoop(
        context, context.code(),
        [&](std::uint32_t index) -> Gated<ExchangePlan> {
            const Gated<ExchangePlan>& plan = plans[index];
            return !plan || plan->walk ? plan : std::unexpected(plan->walk.error());
        },
        likenessOf);
    if (gainful)
        return gainful;
    return chooseLoop(
        context, context.code(), [&](std::uint32_t index) { return plans[index]; }, likenessOf);
}

Gated<ExchangePlan> exchangePlanOf(const SkillContext& context, Span outer) {
    KERNELSKILL_CHECK(requireEditable(context));
    for (std::uint32_t i = 0; i < context.kernel.loops.size(); ++i)
        if (context.kernel.body.stmt(context.kernel.loops[i].statement).span == outer)
            return plansOf(context).ofLoops[i];
    return refuse("no-loop", "the loop is no longer there");
}

} // namespace kernelskill::skills
