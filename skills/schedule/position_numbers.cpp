#include "skills/schedule/position_numbers.h"

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

IndexExpression byNumber(const IndexExpression& expression, std::uint32_t axis,
                         const IndexExpression& width) {
    const Symbol threads{SymbolKind::ThreadIdx, axis};
    const IndexExpression thread = IndexExpression::symbol({SymbolKind::Named, 0}) -
                                   width * IndexExpression::symbol({SymbolKind::BlockIdx, axis});
    IndexExpression result;
    for (const auto& [monomial, factor] : expression.terms()) {
        IndexExpression term = IndexExpression::constant(factor);
        for (const Symbol symbol : monomial)
            term = term * (symbol == threads ? thread : IndexExpression::symbol(symbol));
        result = result + term;
    }
    return result;
}

bool isByNumberAlone(const IndexExpression& expression, std::uint32_t axis) {
    return std::ranges::all_of(expression.terms(), [&](const auto& term) {
        const auto count = [&](SymbolKind kind) {
            return std::ranges::count(term.first, Symbol{kind, axis});
        };
        return count(SymbolKind::ThreadIdx) == 0 && count(SymbolKind::BlockIdx) == 0 &&
               count(SymbolKind::BlockDim) == count(SymbolKind::GridDim);
    });
}

} // namespace kernelskill::skills
