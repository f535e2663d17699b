#include "skills/schedule/contraction.h"

#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/base/held_values.h"
#include "skills/gates/thread_position.h"
#include "skills/schedule/output_roles.h"
#include "skills/schedule/promote.h"
#include "skills/schedule/threads_apart.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class ContractionFinder {
public:
    ContractionFinder(const SkillContext& context, const OutputAxes& axes, StmtId loop,
                      const std::vector<KeptElement>& kept)
        : context_(context), code_(context.code()), body_(code_.body()), loop_(loop), kept_(kept),
          dependence_(context.kernel, code_, axes, loop) {
        // Elements that all outputs read alike stay where they are.
        std::erase_if(kept_, [&](const KeptElement& element) {
            return !element.isWritten && dependence_.of(element.uses.front()) == 0;
        });
        found_.axes = axes;
    }

    Gated<Contraction> find(std::uint32_t first) {
        KERNELSKILL_TRY(TermLoop term, readTermLoop(context_, dependence_, kept_, first));
        found_.loops.push_back(std::move(term));
        const StmtId block = body_.stmt(loop_).parent;
        for (std::uint32_t id = first + 1; id < context_.kernel.loops.size(); ++id)
            if (body_.stmt(context_.kernel.loops[id].statement).parent == block)
                if (auto more = readTermLoop(context_, dependence_, kept_, id))
                    found_.loops.push_back(*std::move(more));
        KERNELSKILL_CHECK(flatten(body_.root));
        takeKept();
        KERNELSKILL_CHECK(findRoles(context_, dependence_, found_));
        return std::move(found_);
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    [[nodiscard]] bool isTermLoop(StmtId id) const {
        return std::ranges::find(found_.loops, id, &TermLoop::statement) != found_.loops.end();
    }

    /// The statements of a block on the way to the loops, in order.
    Gated<void> flatten(StmtId block) {
        const std::vector<StmtId> all = code_.statementsOf(block);
        for (std::size_t at = 0; at < all.size(); ++at) {
            const StmtId id = all[at];
            const Stmt& stmt = body_.stmt(id);
            if (isTermLoop(id)) {
                found_.parts.push_back({ContractionPart::Kind::Loop, id, {}});
            } else if (code_.encloses(id, loop_)) {
                const bool isPlainBlock = stmt.kind == StmtKind::Compound;
                if (!isPlainBlock)
                    KERNELSKILL_CHECK(takeGuard(id, false));
                KERNELSKILL_CHECK(flatten(isPlainBlock ? id : stmt.children[0]));
                for (std::size_t rest = at + 1; !isPlainBlock && rest < all.size(); ++rest)
                    if (body_.stmt(all[rest]).kind != StmtKind::Null &&
                        (rest + 1 < all.size() || !isReturn(all[rest])))
                        return refuse("work-after-guard",
                                      fmt::format("line {} is reached by threads without an output",
                                                  line(body_.stmt(all[rest]).span)));
                if (!isPlainBlock)
                    return {};
            } else if (isEarlyReturn(id)) {
                KERNELSKILL_CHECK(takeGuard(id, true));
            } else if (stmt.kind == StmtKind::Declaration) {
                found_.parts.push_back({ContractionPart::Kind::Declaration, id, {}});
            } else if (stmt.kind != StmtKind::Null &&
                       (at + 1 < all.size() || !isReturn(id) || block != body_.root)) {
                found_.parts.push_back(
                    {movesForAll(id) ? ContractionPart::Kind::Once : ContractionPart::Kind::Work,
                     id,
                     {}});
            }
        }
        return {};
    }

    [[nodiscard]] bool isReturn(StmtId id) const {
        return body_.stmt(id).kind == StmtKind::Return && body_.stmt(id).expr == noId;
    }
    [[nodiscard]] bool isEarlyReturn(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.kind != StmtKind::If || stmt.children.size() != 1)
            return false;
        const auto inner = code_.statementsOf(stmt.children[0]);
        return inner.size() == 1 && isReturn(inner[0]) && !isBehindLoop(id);
    }
    [[nodiscard]] bool isBehindLoop(StmtId id) const {
        return body_.stmt(id).span.begin > body_.stmt(loop_).span.begin;
    }

    Gated<void> takeGuard(StmtId id, bool returns) {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.kind != StmtKind::If || stmt.children.size() != 1 || stmt.condition == noId ||
            stmt.init != noId || !stmt.declared.empty() || stmt.fromMacro)
            return refuse("compound-guard",
                          fmt::format("line {} is neither a plain condition around the work nor "
                                      "an early return",
                                      line(stmt.span)));
        ContractionPart part{ContractionPart::Kind::Guard, id, {}};
        KERNELSKILL_CHECK(split(stmt.condition, returns, part.clauses));
        found_.parts.push_back(std::move(part));
        return {};
    }
    Gated<void> split(ExprId condition, bool isNegated, std::vector<GuardClause>& clauses) {
        const Expr& expr = body_.expr(condition);
        if (expr.kind == ExprKind::Unary && expr.op == "!" && isSpelledOut(code_, expr.children[0]))
            return split(expr.children[0], !isNegated, clauses);
        if (expr.kind == ExprKind::Binary && expr.op == (isNegated ? "||" : "&&") &&
            std::ranges::all_of(expr.children,
                                [&](ExprId side) { return isSpelledOut(code_, side); })) {
            for (const ExprId side : expr.children)
                KERNELSKILL_CHECK(split(side, isNegated, clauses));
            return {};
        }
        const AxisSet axes = dependence_.of(condition);
        takeCount(condition, isNegated);
        const bool isOfCount = isCount(condition, isNegated);
        if (readsMemory(code_, condition) || !isPure(context_, condition) ||
            (axes & termAxis) != 0 || (axes == outputAxesSet && !isOfCount) ||
            !isSpelledOut(code_, condition))
            return refuse("compound-guard",
                          fmt::format("the condition on line {} is not made of bounds of one "
                                      "position each",
                                      line(expr.span)));
        clauses.push_back({condition, isNegated, axes});
        if (boundsFromAbove(expr, isNegated))
            found_.bounded |= axes;
        return {};
    }
    /// The number that a variable is below where the condition holds; noId: it says another thing.
    [[nodiscard]] ExprId limitOf(VariableId variable, ExprId condition, bool isNegated) const {
        const Expr& expr = body_.expr(condition);
        if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
            return noId;
        const bool isLeft = code_.namedVariable(expr.children[0]) == variable;
        const std::string_view wanted = isNegated ? (isLeft ? ">=" : "<=") : (isLeft ? "<" : ">");
        if (expr.op != wanted || (!isLeft && code_.namedVariable(expr.children[1]) != variable))
            return noId;
        const ExprId limit = expr.children[isLeft ? 1 : 0];
        return dependence_.of(limit) == 0 ? limit : noId;
    }
    [[nodiscard]] bool isCount(ExprId condition, bool isNegated) const {
        return found_.axes.flat && limitOf(found_.axes.flat->index, condition, isNegated) != noId;
    }
    void takeCount(ExprId condition, bool isNegated) {
        if (!found_.axes.flat)
            return;
        if (const ExprId limit = limitOf(found_.axes.flat->index, condition, isNegated);
            limit != noId)
            found_.count = limit;
        if (const ExprId limit = limitOf(found_.axes.slow.variable, condition, isNegated);
            limit != noId)
            found_.rows = limit;
        if (found_.count != noId || found_.rows != noId)
            found_.bounded = outputAxesSet;
    }
    [[nodiscard]] bool boundsFromAbove(const Expr& expr, bool isNegated) const {
        if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
            return false;
        const bool isLess = expr.op.starts_with('<') && expr.op.size() <= 2 && expr.op != "<<";
        const bool isMore = expr.op.starts_with('>') && expr.op.size() <= 2 && expr.op != ">>";
        if (!isLess && !isMore)
            return false;
        const std::size_t lower = isLess != isNegated ? 0 : 1;
        return dependence_.of(expr.children[lower]) != 0 &&
               dependence_.of(expr.children[1 - lower]) == 0;
    }

    /// A statement that changes what all outputs of a thread share, to the same for all.
    [[nodiscard]] bool movesForAll(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.kind != StmtKind::Expression || stmt.expr == noId)
            return false;
        const Expr& expr = body_.expr(stmt.expr);
        const bool isChange =
            (expr.kind == ExprKind::Binary && isAssignment(expr.op)) ||
            (expr.kind == ExprKind::Unary && (expr.op.contains("++") || expr.op.contains("--")));
        if (!isChange || body_.expr(expr.children[0]).kind != ExprKind::Variable ||
            body_.expr(expr.children[0]).variable == noId)
            return false;
        return dependence_.ofVariable(body_.expr(expr.children[0]).variable) == 0 &&
               (expr.children.size() < 2 || isPure(context_, expr.children[1]));
    }

    void takeKept() {
        for (const KeptElement& element : kept_) {
            if (!isTermLoop(element.loop))
                continue;
            found_.kept.push_back(element);
            found_.keptAxes.push_back(dependence_.of(element.uses.front()) & outputAxesSet);
        }
        found_.keptNames = registerNames(context_, found_.kept);
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    StmtId loop_;
    std::vector<KeptElement> kept_;
    AxisDependence dependence_;
    Contraction found_;
};

Gated<void> requireOutputsApart(const SkillContext& context) {
    const KernelModel& kernel = context.kernel;
    KERNELSKILL_CHECK(requireThreadsApart(context));
    if (!kernel.atomics.empty())
        return refuse(
            "atomic",
            fmt::format(
                "the atomic on line {} is what outputs share",
                lineNumber(context, kernel.body.expr(kernel.atomics.front().call).span.begin)));
    KERNELSKILL_CHECK(editablePositions(context));
    KERNELSKILL_CHECK(editableBlockPositions(context));
    return {};
}

Gated<Contraction> findContraction(const SkillContext& context) {
    if (context.kernel.loops.empty())
        return refuse("no-term-loop",
                      fmt::format("{} has no loop over terms", context.kernel.name));
    KERNELSKILL_CHECK(requireOutputsApart(context));
    KERNELSKILL_TRY(const auto pairs, outputAxes(context));
    const auto kept = keptElements(context, KeptElements::OfRounds);
    const std::vector<KeptElement> elements = kept.value_or(std::vector<KeptElement>{});
    std::optional<Refusal> refusal;
    for (const OutputAxes& axes : pairs)
        for (std::uint32_t id = 0; id < context.kernel.loops.size(); ++id) {
            const Loop& loop = context.kernel.loops[id];
            if (loop.parent != noId)
                continue;
            auto found = ContractionFinder(context, axes, loop.statement, elements).find(id);
            if (found)
                return found;
            // The loop's sum has to stay in memory: the refusal says why.
            if (!kept && found.error().gate == "stores-in-loop" &&
                kept.error().gate != "no-kept-element")
                found = std::unexpected(kept.error());
            if (!refusal)
                refusal = std::move(found.error());
        }
    if (refusal)
        return std::unexpected(*std::move(refusal));
    return refuse("no-term-loop", fmt::format("{} has no loop over terms", context.kernel.name));
}

} // namespace

Gated<Contraction> contraction(const SkillContext& context) {
    KERNELSKILL_CHECK(requireEditable(context));
    return context.held<Gated<Contraction>>(nullptr, [&] { return findContraction(context); });
}

} // namespace kernelskill::skills
