#include "analysis/nest/counts.h"

#include "analysis/nest/point_set.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace kernelskill::analysis {

namespace {

IndexExpression number(std::int64_t value) {
    return IndexExpression::constant(value);
}

/// The coefficients of powers of `symbol`; nullopt above the square.
std::optional<std::vector<IndexExpression>> powersOf(const IndexExpression& expression,
                                                     Symbol symbol) {
    std::vector<IndexExpression> powers(3);
    for (const auto& [monomial, coefficient] : expression.terms()) {
        IndexExpression term = number(coefficient);
        std::size_t power = 0;
        for (const Symbol factor : monomial) {
            if (factor == symbol)
                ++power;
            else
                term = term * IndexExpression::symbol(factor);
        }
        if (power >= powers.size())
            return std::nullopt;
        powers[power] = powers[power] + term;
    }
    return powers;
}

/// Six times the sum of `expression` for `symbol` from `first` to `end`, the end excluded.
std::optional<IndexExpression> sixfoldSum(const IndexExpression& expression, Symbol symbol,
                                          const IndexExpression& first,
                                          const IndexExpression& end) {
    const auto powers = powersOf(expression, symbol);
    if (!powers)
        return std::nullopt;
    const auto below = [&](const IndexExpression& x) { // For 0 .. x - 1.
        const IndexExpression previous = x - number(1);
        return number(6) * (*powers)[0] * x + number(3) * (*powers)[1] * x * previous +
               (*powers)[2] * previous * x * (number(2) * x - number(1));
    };
    return below(end) - below(first);
}

void reduce(NestCount& count) {
    std::int64_t common = count.divisor;
    for (const auto& [monomial, coefficient] : count.numerator.terms())
        common = std::gcd(common, coefficient);
    if (common <= 1)
        return;
    IndexExpression reduced;
    for (const auto& [monomial, coefficient] : count.numerator.terms()) {
        IndexExpression term = number(coefficient / common);
        for (const Symbol symbol : monomial)
            term = term * IndexExpression::symbol(symbol);
        reduced = reduced + term;
    }
    count.numerator = std::move(reduced);
    count.divisor /= common;
}

/// `first` less the index that tells apart who shares the loop.
IndexExpression sharedStart(const NestSymbols& symbols, const NestLoop& loop) {
    IndexExpression start;
    for (const auto& [monomial, coefficient] : loop.first->terms()) {
        const bool tells = std::ranges::any_of(monomial, [&](Symbol symbol) {
            const NestSymbol* named = symbols.find(symbol);
            return symbol.kind == SymbolKind::ThreadIdx || symbol.kind == SymbolKind::BlockIdx ||
                   (named != nullptr && (named->kind == NestSymbolKind::Position ||
                                         named->kind == NestSymbolKind::Derived));
        });
        if (tells)
            continue;
        IndexExpression term = number(coefficient);
        for (const Symbol symbol : monomial)
            term = term * IndexExpression::symbol(symbol);
        start = start + term;
    }
    return start;
}

} // namespace

std::string NestCount::describe(const NestSymbols& symbols) const {
    const std::string text = symbols.describe(numerator);
    if (divisor == 1)
        return text;
    return (numerator.terms().size() > 1 ? "(" + text + ")" : text) + "/" + std::to_string(divisor);
}

std::optional<NestCount> roundsOf(const Nest& nest, NestNodeId node) {
    NestCount count;
    count.numerator = number(1);
    std::vector<NestNodeId> outer = around(nest, node);
    std::ranges::reverse(outer); // The innermost loop is summed first.
    for (const NestNodeId id : outer) {
        if (const NestGuard* guard = nest.node(id).guard()) {
            count.isExact = count.isExact && guard->condition.isAlways();
            continue;
        }
        const NestLoop* loop = nest.node(id).loop();
        if (loop == nullptr)
            continue;
        const auto step = loop->step ? loop->step->asConstant() : std::nullopt;
        const bool isShared = loop->style != NestLoopStyle::Serial;
        if (!loop->first || !loop->end || (!isShared && step != 1 && step != -1))
            return std::nullopt;
        count.isExact = count.isExact && !loop->mayStop;
        const IndexExpression first = isShared ? sharedStart(nest.symbols, *loop) : *loop->first;
        const bool down = loop->isDownward;
        const auto sum =
            sixfoldSum(count.numerator, loop->iterator, down ? *loop->end + number(1) : first,
                       down ? first + number(1) : *loop->end);
        if (!sum || sum->isTooLarge())
            return std::nullopt;
        count.numerator = *sum;
        constexpr std::int64_t sixfold = 6;
        count.divisor *= sixfold;
        reduce(count);
    }
    return count;
}

std::optional<std::int64_t> runsOf(const Nest& nest, NestNodeId node,
                                   const std::map<Symbol, std::int64_t>& values,
                                   Polyhedra& polyhedra) {
    PointSet points(nest, false);
    for (const auto& [symbol, value] : values)
        points.fix(symbol, value);
    // Each thread of the launch is a point, whether or not the code names its indices.
    for (std::uint8_t axis = 0; axis < 3; ++axis)
        for (const auto& [size, index] : {std::pair{SymbolKind::BlockDim, SymbolKind::ThreadIdx},
                                          std::pair{SymbolKind::GridDim, SymbolKind::BlockIdx}})
            if (values.contains({size, axis}))
                (void)points.dimension({index, axis}, 0);
    points.requireDomain(node, 0);
    if (!points.isExact() || points.hasParameters())
        return std::nullopt;
    return polyhedra.count(points.text());
}

} // namespace kernelskill::analysis
