#include "analysis/queries/launch_intervals.h"

#include "analysis/queries/index_arithmetic.h"

#include <algorithm>

namespace kernelskill::analysis {

namespace {

constexpr int maxNested = 8;

std::optional<ValueRange> small(ValueRange value) {
    return isSmallIndex(value.low) && isSmallIndex(value.high) ? std::optional(value)
                                                               : std::nullopt;
}

std::optional<ValueRange> product(const ValueRange& a, const ValueRange& b) {
    const auto [low, high] =
        std::ranges::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    return small({low, high});
}

} // namespace

bool leavesIndexAlone(const CodeMap& code, const Loop& loop) {
    return loop.kind == LoopKind::For &&
           std::ranges::none_of(code.uses(loop.inductionVariable), [&](ExprId use) {
               return code.holds(loop.body, use) && code.isWrite(use);
           });
}

std::optional<ValueRange> LaunchIntervals::of(const IndexExpression& expr, int depth) const {
    const IndexExpression numbered = withNumbers(expr);
    ValueRange sum;
    for (const auto& [monomial, coefficient] : numbered.terms()) {
        auto value = small({coefficient, coefficient});
        for (const Symbol& symbol : monomial) {
            const auto range = rangeOf(symbol, depth);
            value = value && range ? product(*value, *range) : std::nullopt;
        }
        if (!value)
            return std::nullopt;
        sum = {sum.low + value->low, sum.high + value->high};
    }
    return small(sum);
}

IndexExpression LaunchIntervals::withNumbers(const IndexExpression& expr) const {
    IndexExpression all;
    for (const auto& [monomial, coefficient] : expr.terms()) {
        std::int64_t factor = coefficient;
        IndexExpression rest = IndexExpression::constant(1);
        for (const Symbol& symbol : monomial) {
            const auto number = numberOf(symbol);
            if (number && isSmallIndex(*number) && isSmallIndex(factor))
                factor *= *number;
            else
                rest = rest * IndexExpression::symbol(symbol);
        }
        all = all + rest * IndexExpression::constant(factor);
    }
    return all;
}

std::optional<std::int64_t> LaunchIntervals::numberOf(const Symbol& symbol) const {
    if (symbol.kind == SymbolKind::BlockDim)
        return numbers_.block.at(symbol.id);
    if (symbol.kind == SymbolKind::GridDim)
        return numbers_.grid.at(symbol.id);
    if (symbol.kind != SymbolKind::Parameter)
        return std::nullopt;
    const auto at = std::ranges::find(kernel_.parameters, symbol.id, &Parameter::variable);
    const auto place = static_cast<std::size_t>(at - kernel_.parameters.begin());
    return place < numbers_.arguments.size() ? numbers_.arguments[place] : std::nullopt;
}

std::optional<ValueRange> LaunchIntervals::rangeOf(const Symbol& symbol, int depth) const {
    if (symbol.kind == SymbolKind::ThreadIdx)
        return ValueRange{0, numbers_.block.at(symbol.id) - 1};
    if (symbol.kind == SymbolKind::BlockIdx)
        return ValueRange{0, numbers_.grid.at(symbol.id) - 1};
    if (symbol.kind != SymbolKind::LoopVariable || depth >= maxNested)
        return std::nullopt;
    const auto loop = std::ranges::find(kernel_.loops, symbol.id, &Loop::inductionVariable);
    const bool countsUp = loop != kernel_.loops.end() && loop->start && loop->upperBound != noId &&
                          isPositive(*loop, depth) &&
                          (loop->comparison == "<" || loop->comparison == "<=") &&
                          leavesIndexAlone(code_, *loop);
    if (!countsUp)
        return std::nullopt;
    const auto limit = polynomialOf(code_, loop->upperBound);
    const auto first = of(*loop->start, depth + 1);
    const auto last = limit ? of(*limit, depth + 1) : std::nullopt;
    if (!first || !last)
        return std::nullopt;
    const std::int64_t high = last->high - (loop->comparison == "<" ? 1 : 0);
    return ValueRange{first->low, std::max(high, first->low)};
}

bool LaunchIntervals::isPositive(const Loop& loop, int depth) const {
    if (loop.step)
        return *loop.step > 0 && (loop.stepOperator.empty() || loop.stepOperator == "+=");
    if (!loop.stepExpression || loop.stepOperator != "+=")
        return false;
    const auto step = of(*loop.stepExpression, depth + 1);
    return step && step->low > 0;
}

} // namespace kernelskill::analysis
