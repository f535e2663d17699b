#include "engine/proof/terms.h"

#include <algorithm>
#include <set>

namespace kernelskill::engine {

Term TermTable::truth(bool value) {
    return apply(value ? "true" : "false", {}, {0, 1});
}

Term TermTable::isNegative(Term term, const Facts& facts) {
    if (const auto value = constant(term))
        return truth(*value < 0);
    const IntegerRange values = range(term, facts);
    if (values.high < 0)
        return truth(true);
    if (values.low >= 0)
        return truth(false);
    return apply("negative", {term}, {0, 1});
}

Term TermTable::isZero(Term term, const Facts& facts) {
    if (const auto value = constant(term))
        return truth(*value == 0);
    const IntegerRange values = range(term, facts);
    if (values.high < 0 || values.low > 0)
        return truth(false);
    const Polynomial polynomial = polynomialOf(term);
    if (polynomial.begin()->second < 0)
        term = multiply(integer(-1), term);
    return apply("zero", {term}, {0, 1});
}

Term TermTable::negation(Term value) {
    const Node node = nodes_[value];
    if (node.function == "true" || node.function == "false")
        return truth(node.function == "false");
    if (node.function == "not")
        return node.arguments.front();
    // p < 0 does not hold: -p - 1 < 0.
    if (node.function == "negative")
        return isNegative(subtract(integer(-1), node.arguments.front()), {});
    return apply("not", {value}, {0, 1});
}

Facts TermTable::literals(Term value) const {
    if (const std::vector<Term>* arguments = argumentsOf(value, "and"))
        return *arguments;
    if (nodes_[value].function == "true")
        return {};
    return {value};
}

Term TermTable::both(Term left, Term right) {
    std::set<Term> all;
    for (const Term side : {left, right}) {
        if (nodes_[side].function == "false")
            return side;
        for (const Term literal : literals(side))
            all.insert(literal);
    }
    for (const Term literal : all)
        if (all.contains(negation(literal)))
            return truth(false);
    if (all.empty())
        return truth(true);
    if (all.size() == 1)
        return *all.begin();
    return apply("and", {all.begin(), all.end()}, {0, 1});
}

Term TermTable::either(Term left, Term right) {
    return negation(both(negation(left), negation(right)));
}

Term TermTable::choice(Term condition, Term chosen, Term other, bool isTruth) {
    if (chosen == other)
        return chosen;
    const std::string function = nodes_[condition].function;
    if (function == "true")
        return chosen;
    if (function == "false")
        return other;
    if (function == "not")
        return choice(negation(condition), other, chosen, isTruth);
    // One of a condition and its negation stands for both.
    if (const Term opposite = negation(condition); opposite < condition && function != "and")
        return choice(opposite, other, chosen, isTruth);
    if (isTruth) {
        const std::string whenTrue = nodes_[chosen].function;
        const std::string whenFalse = nodes_[other].function;
        if (whenTrue == "true")
            return either(condition, other);
        if (whenTrue == "false")
            return both(negation(condition), other);
        if (whenFalse == "true")
            return either(negation(condition), chosen);
        if (whenFalse == "false")
            return both(condition, chosen);
    }
    // What both have in common is theirs whichever is chosen.
    Polynomial common;
    const Polynomial theirs = polynomialOf(other);
    for (const auto& [atoms, factor] : polynomialOf(chosen))
        if (const auto same = theirs.find(atoms); same != theirs.end() && same->second == factor)
            common.emplace(atoms, factor);
    if (!isTruth && !common.empty()) {
        const Term shared = ofPolynomial(std::move(common));
        return add(shared,
                   choice(condition, subtract(chosen, shared), subtract(other, shared), false));
    }
    const IntegerRange left = lastingRange(chosen);
    const IntegerRange right = lastingRange(other);
    return apply("choice", {condition, chosen, other},
                 {std::min(left.low, right.low), std::max(left.high, right.high)});
}

Term TermTable::decided(Term value, const Facts& facts) {
    if (const std::vector<Term>* arguments = argumentsOf(value, "and")) {
        Term result = truth(true);
        for (const Term literal : std::vector<Term>(*arguments))
            result = both(result, decided(literal, facts));
        return result;
    }
    if (std::ranges::find(facts, value) != facts.end())
        return truth(true);
    if (std::ranges::find(facts, negation(value)) != facts.end())
        return truth(false);
    if (const std::vector<Term>* negative = argumentsOf(value, "negative"))
        return isNegative(negative->front(), facts);
    return value;
}

} // namespace kernelskill::engine
