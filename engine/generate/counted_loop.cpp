#include "engine/generate/counted_loop.h"

#include "analysis/queries/index_arithmetic.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// Whether nothing but the header changes the loop's variable and ends the loop.
bool isRuledByHeader(const KernelModel& function, const analysis::CodeMap& code, const Loop& loop) {
    const FunctionBody& body = function.body;
    const Stmt& stmt = body.stmt(loop.statement);
    if (loop.hasEarlyExit || stmt.condition == noId || stmt.increment == noId)
        return false;
    const Expr& condition = body.expr(stmt.condition);
    const bool isBound =
        condition.kind == ExprKind::Binary && condition.op != "&&" &&
        std::ranges::find(condition.children, loop.upperBound) != condition.children.end();
    return isBound && std::ranges::none_of(code.uses(loop.inductionVariable), [&](ExprId use) {
               return code.isWrite(use) && code.holds(loop.body, use);
           });
}

bool namesALoop(const IndexExpression& value) {
    return std::ranges::any_of(value.terms(), [](const auto& term) {
        return std::ranges::any_of(
            term.first, [](Symbol symbol) { return symbol.kind == SymbolKind::LoopVariable; });
    });
}

/// The distance from the first value to the loop's end, given its comparison.
std::optional<IndexExpression> distanceOf(const Loop& loop, const IndexExpression& end) {
    const IndexExpression one = IndexExpression::constant(1);
    const bool isByOne = std::abs(*loop.step) == 1;
    if (*loop.step > 0) {
        if (loop.comparison == "<" || (loop.comparison == "!=" && isByOne))
            return end - *loop.start;
        return loop.comparison == "<=" ? std::optional(end - *loop.start + one) : std::nullopt;
    }
    if (loop.comparison == ">" || (loop.comparison == "!=" && isByOne))
        return *loop.start - end;
    return loop.comparison == ">=" ? std::optional(*loop.start - end + one) : std::nullopt;
}

} // namespace

std::int64_t roundsIn(std::int64_t distance, std::int64_t step) {
    return distance <= 0 ? 0 : (distance + step - 1) / step;
}

std::optional<LoopRange> rangeOf(const KernelModel& function, const analysis::CodeMap& code,
                                 std::uint32_t number) {
    const Loop& loop = function.loops.at(number);
    if (loop.kind != LoopKind::For || loop.inductionVariable == noId || !loop.start || !loop.step ||
        *loop.step == 0 || loop.start->hasOpaque())
        return std::nullopt;
    std::optional<IndexExpression> distance = loop.tripCountExpression;
    if (!distance && loop.upperBound != noId && isRuledByHeader(function, code, loop))
        if (const auto end = analysis::polynomialOf(code, loop.upperBound))
            distance = distanceOf(loop, *end);
    if (!distance || distance->hasOpaque())
        return std::nullopt;
    const IndexExpression one = IndexExpression::constant(1);
    LoopRange range{{SymbolKind::LoopVariable, loop.inductionVariable},
                    *loop.start,
                    *loop.start,
                    std::abs(*loop.step),
                    *distance,
                    std::nullopt};
    IndexExpression rounds = *distance;
    if (range.step != 1) {
        if (namesALoop(*distance) || namesALoop(*loop.start))
            return std::nullopt;
        if (const auto constant = distance->asConstant()) {
            rounds = IndexExpression::constant(roundsIn(*constant, range.step));
        } else {
            // The function has no variable for it, so its number follows theirs.
            range.rounds =
                Symbol{SymbolKind::Parameter,
                       static_cast<std::uint32_t>(function.body.variables.size()) + number};
            rounds = IndexExpression::symbol(*range.rounds);
        }
    }
    const IndexExpression span = IndexExpression::constant(range.step) * (rounds - one);
    (*loop.step > 0 ? range.last : range.first) =
        *loop.step > 0 ? *loop.start + span : *loop.start - span;
    return range;
}

RoundsBySymbol steppedRounds(const KernelModel& function, const analysis::CodeMap& code) {
    RoundsBySymbol found;
    for (std::uint32_t number = 0; number < function.loops.size(); ++number)
        if (auto range = rangeOf(function, code, number); range && range->rounds)
            found[*range->rounds] = {std::move(range->distance), range->step};
    return found;
}

} // namespace kernelskill::engine
