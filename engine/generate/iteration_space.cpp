#include "engine/generate/iteration_space.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine {

using analysis::IndexExpression;
using analysis::Symbol;

namespace {

IndexExpression negated(const IndexExpression& value) {
    return IndexExpression::constant(-1) * value;
}

/// For `factor * symbol + constant`: the symbol, and its minimum value at which the sum is not
/// negative. nullopt for anything else.
std::optional<std::pair<Symbol, std::int64_t>> leastSymbol(const IndexExpression& value) {
    std::optional<Symbol> symbol;
    std::int64_t factor = 1;
    std::int64_t shift = 0;
    for (const auto& [monomial, coefficient] : value.terms()) {
        if (monomial.empty()) {
            shift = coefficient;
        } else if (monomial.size() == 1 && coefficient > 0 && !symbol) {
            symbol = monomial.front();
            factor = coefficient;
        } else {
            return std::nullopt;
        }
    }
    if (!symbol)
        return std::nullopt;
    const std::int64_t needed = -shift; // The required minimum of factor * symbol.
    return std::pair(*symbol, needed > 0 ? (needed + factor - 1) / factor : needed / factor);
}

} // namespace

IndexExpression substitute(const IndexExpression& value, Symbol symbol,
                           const IndexExpression& replacement) {
    IndexExpression result;
    for (const auto& [monomial, coefficient] : value.terms()) {
        IndexExpression product = IndexExpression::constant(coefficient);
        for (const Symbol factor : monomial)
            product = product * (factor == symbol ? replacement : IndexExpression::symbol(factor));
        result = result + product;
    }
    return result;
}

IterationSpace::IterationSpace(std::vector<LoopRange> loops,
                               const std::vector<Symbol>& unsignedSymbols)
    : loops_(std::move(loops)) {
    for (const Symbol symbol : unsignedSymbols)
        atLeast_[symbol] = 0;
    assume(loops_);
}

void IterationSpace::assume(const std::vector<LoopRange>& loops) {
    // A loop that runs has first <= last. This also holds with the outer variables at the values
    // where it is easiest to fulfil.
    for (std::size_t index = 0; index < loops.size(); ++index) {
        IndexExpression room = loops[index].last - loops[index].first;
        if (const auto rounds = loops[index].rounds) {
            const IndexExpression one = IndexExpression::constant(1);
            const IndexExpression step = IndexExpression::constant(loops[index].step);
            const IndexExpression reached = step * IndexExpression::symbol(*rounds);
            atLeast_[*rounds] = 1;
            neverNegative_.push_back(reached - loops[index].distance);
            neverNegative_.push_back(loops[index].distance - one - (reached - step));
            room = loops[index].distance - one;
        }
        bool isPlain = true;
        for (std::size_t outer = index; outer-- > 0 && isPlain;) {
            const auto coefficient = room.coefficientOf(loops[outer].variable);
            const auto factor = coefficient ? coefficient->asConstant() : std::nullopt;
            isPlain = factor.has_value();
            if (isPlain && *factor != 0)
                room = substitute(room, loops[outer].variable,
                                  *factor > 0 ? loops[outer].last : loops[outer].first);
        }
        const auto least = isPlain ? leastSymbol(room) : std::nullopt;
        if (!least)
            continue;
        const auto [entry, isNew] = atLeast_.emplace(*least);
        entry->second = std::max(entry->second, least->second);
    }
}

bool IterationSpace::hasNoNegativeTerm(const IndexExpression& value) const {
    return followsFromRunning(value) ||
           std::ranges::any_of(neverNegative_, [&](const IndexExpression& known) {
               return followsFromRunning(value - known);
           });
}

bool IterationSpace::followsFromRunning(const IndexExpression& value) const {
    IndexExpression shifted = value;
    for (const auto& [symbol, least] : atLeast_) {
        // symbol = symbol' + least, with symbol' >= 0.
        if (least != 0)
            shifted =
                substitute(shifted, symbol,
                           IndexExpression::symbol(symbol) + IndexExpression::constant(least));
    }
    return std::ranges::all_of(shifted.terms(), [&](const auto& term) {
        return term.second >= 0 && std::ranges::all_of(term.first, [&](Symbol symbol) {
                   return atLeast_.contains(symbol);
               });
    });
}

bool IterationSpace::isNeverNegative(const IndexExpression& value, std::size_t loops) const {
    if (hasNoNegativeTerm(value))
        return true;
    IndexExpression least = value;
    for (std::size_t index = loops; index-- > 0;) {
        const LoopRange& loop = loops_[index];
        if (!least.dependsOn(loop.variable))
            continue;
        const auto coefficient = least.coefficientOf(loop.variable);
        if (!coefficient)
            return false;
        if (isNeverNegative(*coefficient, index))
            least = substitute(least, loop.variable, loop.first);
        else if (isNeverNegative(negated(*coefficient), index))
            least = substitute(least, loop.variable, loop.last);
        else
            return false;
    }
    return hasNoNegativeTerm(least);
}

bool IterationSpace::isNeverNegative(const IndexExpression& value) const {
    return isNeverNegative(value, loops_.size());
}

std::optional<IndexExpression> IterationSpace::extreme(IndexExpression value, std::size_t from,
                                                       bool wantLargest) const {
    for (std::size_t index = loops_.size(); index-- > from;) {
        const LoopRange& loop = loops_[index];
        if (!value.dependsOn(loop.variable))
            continue;
        const auto coefficient = value.coefficientOf(loop.variable);
        if (!coefficient)
            return std::nullopt;
        if (isNeverNegative(*coefficient, index))
            value = substitute(value, loop.variable, wantLargest ? loop.last : loop.first);
        else if (isNeverNegative(negated(*coefficient), index))
            value = substitute(value, loop.variable, wantLargest ? loop.first : loop.last);
        else
            return std::nullopt;
    }
    return value;
}

std::optional<IndexExpression> IterationSpace::largest(const IndexExpression& value,
                                                       std::size_t from) const {
    return extreme(value, from, true);
}

std::optional<IndexExpression> IterationSpace::smallest(const IndexExpression& value,
                                                        std::size_t from) const {
    return extreme(value, from, false);
}

} // namespace kernelskill::engine
