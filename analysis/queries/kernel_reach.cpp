#include "analysis/queries/kernel_reach.h"

#include "analysis/queries/index_arithmetic.h"

#include <algorithm>
#include <utility>

namespace kernelskill::analysis {

namespace {

bool hasOpaque(const IndexExpression& a, const IndexExpression& b) {
    return a.hasOpaque() || b.hasOpaque();
}

/// How often `bound` has to be taken from `value` for a symbol to vanish; 0: it does not.
std::int64_t timesToCancel(const IndexExpression& value, const IndexExpression& bound) {
    for (const auto& [monomial, coefficient] : bound.terms()) {
        const auto found = value.terms().find(monomial);
        if (monomial.empty() || found == value.terms().end() || !isSmallIndex(coefficient) ||
            found->second % coefficient != 0)
            continue;
        if (const std::int64_t times = found->second / coefficient; times > 0)
            return times;
    }
    return 0;
}

} // namespace

KernelReach::KernelReach(const KernelModel& kernel) : kernel_(kernel), code_(kernel.body) {
    for (const Parameter& parameter : kernel.parameters)
        parameters_.push_back(accessesOf(parameter.variable));
}

std::optional<IndexExpression> KernelReach::polynomial(ExprId expr, ExprId place) const {
    const auto plain = polynomialOf(code_, expr);
    if (!plain)
        return std::nullopt;
    // A loop's own variable is the same in the condition as in what is accessed in that round.
    IndexExpression all;
    for (const auto& [monomial, coefficient] : plain->terms()) {
        IndexExpression term = IndexExpression::constant(coefficient);
        for (Symbol symbol : monomial) {
            const auto isOwn = [&](const Loop& loop) {
                return loop.inductionVariable == symbol.id && code_.holds(loop.body, place) &&
                       code_.holds(loop.body, expr) && leavesIndexAlone(code_, loop);
            };
            if (symbol.kind == SymbolKind::Opaque && std::ranges::any_of(kernel_.loops, isOwn))
                symbol.kind = SymbolKind::LoopVariable;
            term = term * IndexExpression::symbol(symbol);
        }
        all = all + term;
    }
    return all;
}

void KernelReach::addBounds(ExprId condition, bool holds, ExprId place,
                            std::vector<Bound>& bounds) const {
    const Expr& expr = kernel_.body.expr(code_.withoutCasts(condition));
    if (expr.kind == ExprKind::Unary && expr.op == "!")
        return addBounds(expr.children.front(), !holds, place, bounds);
    if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
        return;
    if (expr.op == (holds ? "&&" : "||")) {
        for (const ExprId child : expr.children)
            addBounds(child, holds, place, bounds);
        return;
    }
    const bool isLess = expr.op == "<" || expr.op == "<=";
    if (!isLess && expr.op != ">" && expr.op != ">=")
        return;
    // The smaller side first; where the comparison does not hold it is the other one.
    auto smaller = polynomial(expr.children[isLess == holds ? 0 : 1], place);
    auto larger = polynomial(expr.children[isLess == holds ? 1 : 0], place);
    // A variable that changes may be another number where the access is.
    if (!smaller || !larger || hasOpaque(*smaller, *larger))
        return;
    const bool isStrict = (expr.op == "<" || expr.op == ">") == holds;
    const bool isUnsigned = std::ranges::any_of(expr.children, [&](ExprId side) {
        return isUnsignedIndexType(kernel_.body.expr(side).type);
    });
    bounds.push_back({*smaller - *larger + IndexExpression::constant(isStrict ? 1 : 0),
                      std::move(*larger), isUnsigned});
}

std::vector<KernelReach::Bound> KernelReach::boundsAt(ExprId place) const {
    const FunctionBody& body = kernel_.body;
    std::vector<Bound> bounds;
    StmtId inner = code_.statement(place);
    for (StmtId at = inner; at != noId; inner = at, at = body.stmt(at).parent) {
        const Stmt& stmt = body.stmt(at);
        if (stmt.kind == StmtKind::If && at != inner && stmt.condition != noId)
            for (std::size_t i = 0; i < stmt.children.size(); ++i)
                if (stmt.children[i] == inner)
                    addBounds(stmt.condition, i == 0, place, bounds);
        if (stmt.kind != StmtKind::Compound || at == inner)
            continue;
        // `if (i >= n) return;` before it: who comes here did not return.
        for (const StmtId sibling : stmt.children) {
            if (sibling == inner)
                break;
            const Stmt& before = body.stmt(sibling);
            if (before.kind != StmtKind::If || before.children.size() != 1 ||
                before.condition == noId)
                continue;
            const auto way = code_.statementsOf(before.children.front());
            if (!way.empty() && body.stmt(way.back()).kind == StmtKind::Return)
                addBounds(before.condition, false, place, bounds);
        }
    }
    return bounds;
}

std::optional<std::vector<KernelReach::Access>> KernelReach::accessesOf(VariableId base) const {
    std::vector<Access> accesses;
    std::vector<ExprId> known;
    for (const MemoryAccess& access : kernel_.accesses) {
        if (access.base != base)
            continue;
        if (!access.index || access.width == 0)
            return std::nullopt;
        for (const auto& [monomial, coefficient] : access.index->terms())
            for (const Symbol& symbol : monomial)
                if (symbol.kind == SymbolKind::LoopVariable &&
                    std::ranges::count(kernel_.loops, symbol.id, &Loop::inductionVariable) != 1)
                    return std::nullopt;
        accesses.push_back({*access.index, access.width, boundsAt(access.expression)});
        const auto below = code_.expressionsBelow(access.expression);
        known.insert(known.end(), below.begin(), below.end());
    }
    // Whatever else is done with the pointer may lead anywhere.
    for (const ExprId use : code_.uses(base))
        if (std::ranges::find(known, use) == known.end())
            return std::nullopt;
    return accesses;
}

std::optional<ByteRange> KernelReach::of(std::size_t parameter,
                                         const LaunchNumbers& numbers) const {
    if (parameter >= parameters_.size() || !parameters_[parameter])
        return std::nullopt;
    const LaunchIntervals intervals(kernel_, code_, numbers);
    std::optional<ByteRange> all;
    for (const Access& access : *parameters_[parameter]) {
        const IndexExpression index = intervals.withNumbers(access.index);
        const auto whole = intervals.of(index);
        if (!whole)
            return std::nullopt;
        ValueRange reach = *whole;
        IndexExpression above = index; // the index, and what is not below it
        IndexExpression below = index;
        for (const Bound& bound : access.bounds) {
            const auto larger = intervals.of(bound.larger);
            if (!larger || (bound.isUnsigned && larger->low < 0))
                continue;
            const IndexExpression excess = intervals.withNumbers(bound.excess);
            const IndexExpression slack = IndexExpression::constant(0) - excess;
            if (const auto times = timesToCancel(above, excess); times > 0) {
                const IndexExpression next = above - excess * IndexExpression::constant(times);
                if (const auto value = intervals.of(next); value && value->high <= reach.high) {
                    reach.high = value->high;
                    above = next;
                }
            }
            if (const auto times = timesToCancel(below, slack); times > 0) {
                const IndexExpression next = below - slack * IndexExpression::constant(times);
                if (const auto value = intervals.of(next); value && value->low >= reach.low) {
                    reach.low = value->low;
                    below = next;
                }
            }
        }
        if (reach.high < reach.low)
            continue; // no thread comes there
        const ByteRange bytes{reach.low * access.width, (reach.high + 1) * access.width};
        all = all ? ByteRange{std::min(all->begin, bytes.begin), std::max(all->end, bytes.end)}
                  : bytes;
    }
    return all.value_or(ByteRange{});
}

} // namespace kernelskill::analysis
