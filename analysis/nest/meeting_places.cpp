#include "analysis/nest/meeting_places.h"

#include <algorithm>
#include <cstdint>

namespace kernelskill::analysis {

std::string MeetingPlaces::formula(PointSet& points, const NestAccess& first,
                                   const NestAccess& second, const SameIterators& iterators,
                                   std::vector<std::string>& conditions) const {
    std::string always = "(0 = 0)";
    if (!first.index || !second.index)
        return always;
    const bool sameShape = first.subscripts.size() == second.subscripts.size() &&
                           first.unit == second.unit &&
                           std::ranges::equal(first.subscripts, second.subscripts, {},
                                              &NestSubscript::extent, &NestSubscript::extent);
    std::string equal;
    if (sameShape && !isOneLaunch_) { // Flat indices of one launch need no assumption.
        const std::size_t alike = alikeSubscripts(first, second, iterators);
        for (const NestAccess* access : {&first, &second})
            for (const NestCondition& assumption : access->assumptions)
                if (const std::string text = nest_.symbols.describe(assumption);
                    isNeeded(*access, assumption, alike) &&
                    std::ranges::find(conditions, text) == conditions.end())
                    conditions.push_back(text);
        for (std::size_t i = 0; i < first.subscripts.size(); ++i)
            equal +=
                equality(points, first.subscripts[i].index, second.subscripts[i].index, iterators);
    } else if (first.unit == second.unit) {
        equal = equality(points, *first.index, *second.index, iterators);
    } else {
        // Elements of other sizes: bytes that overlap.
        equal = overlap(points, first, second);
    }
    return equal.empty() ? always : equal.substr(5); // Without the leading " and ".
}

std::size_t MeetingPlaces::alikeSubscripts(const NestAccess& a, const NestAccess& b,
                                           const SameIterators& iterators) const {
    std::size_t count = 0;
    while (iterators && count < a.subscripts.size() &&
           a.subscripts[count].index == b.subscripts[count].index &&
           isSame(a.subscripts[count].index, *iterators))
        ++count;
    return count;
}

bool MeetingPlaces::isNeeded(const NestAccess& access, const NestCondition& assumption,
                             std::size_t alike) {
    bool isOfLeading = false;
    for (std::size_t i = 0; i < access.subscripts.size(); ++i) {
        const NestSubscript& subscript = access.subscripts[i];
        const bool isAbout =
            subscript.extent &&
            (assumption == NestCondition::notNegative(subscript.index) ||
             assumption == NestCondition::notNegative(
                               *subscript.extent - IndexExpression::constant(1) - subscript.index));
        if (isAbout && i > alike)
            return true;
        isOfLeading = isOfLeading || isAbout;
    }
    return !isOfLeading;
}

bool MeetingPlaces::isSame(Symbol symbol, const std::vector<Symbol>& iterators) const {
    const NestSymbol* named = nest_.symbols.find(symbol);
    if (named == nullptr)
        return isBuiltIn(symbol) || nest_.symbols.isLaunchConstant(symbol);
    switch (named->kind) {
    case NestSymbolKind::Parameter:
    case NestSymbolKind::Position:
        return true;
    case NestSymbolKind::Iterator:
        return std::ranges::find(iterators, symbol) != iterators.end();
    case NestSymbolKind::Value:
        return false;
    case NestSymbolKind::Derived:
        break;
    }
    return named->choice.empty() &&
           std::ranges::all_of(named->operands, [&](const IndexExpression& operand) {
               return isSame(operand, iterators);
           });
}

bool MeetingPlaces::isSame(const IndexExpression& expression,
                           const std::vector<Symbol>& iterators) const {
    return std::ranges::all_of(expression.terms(), [&](const auto& term) {
        return std::ranges::all_of(term.first,
                                   [&](Symbol part) { return isSame(part, iterators); });
    });
}

std::string MeetingPlaces::equality(PointSet& points, const IndexExpression& a,
                                    const IndexExpression& b,
                                    const SameIterators& iterators) const {
    IndexExpression alike;
    if (iterators)
        for (const auto& [monomial, coefficient] : a.terms()) {
            const auto other = b.terms().find(monomial);
            if (other == b.terms().end() || other->second != coefficient ||
                !std::ranges::all_of(monomial,
                                     [&](Symbol symbol) { return isSame(symbol, *iterators); }))
                continue;
            IndexExpression term = IndexExpression::constant(coefficient);
            for (const Symbol symbol : monomial)
                term = term * IndexExpression::symbol(symbol);
            alike = alike + term;
        }
    const auto left = points.linear(a - alike, 0);
    const auto right = points.linear(b - alike, 1);
    if (left && right)
        return " and (" + *left + " = " + *right + ")";
    points.markInexact();
    return {};
}

std::string MeetingPlaces::overlap(PointSet& points, const NestAccess& a, const NestAccess& b) {
    const auto unitA = static_cast<std::int64_t>(a.unit);
    const auto unitB = static_cast<std::int64_t>(b.unit);
    const auto left = points.linear(IndexExpression::constant(unitA) * *a.index, 0);
    const auto right = points.linear(IndexExpression::constant(unitB) * *b.index, 1);
    if (!left || !right || unitA == 0 || unitB == 0) {
        points.markInexact();
        return {};
    }
    return " and (" + *left + " < " + *right + " + " + std::to_string(unitB) + " and " + *right +
           " < " + *left + " + " + std::to_string(unitA) + ")";
}

} // namespace kernelskill::analysis
