#include "engine/proof/solver_encoding.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::engine {

namespace {

/// The max number of products, because each is compared with all others.
constexpr std::size_t maxComparedProducts = 16;

/// `atoms` without one of `left`.
std::vector<Term> without(const std::vector<Term>& atoms, Term left) {
    std::vector<Term> rest = atoms;
    rest.erase(std::ranges::find(rest, left));
    return rest;
}

} // namespace

z3::expr NumberEncoding::integer(Wide value) {
    return context().int_val(spelled(value).c_str());
}

void NumberEncoding::keepWithin(const z3::expr& value, const IntegerRange& range) {
    const IntegerRange all = TermTable::unbounded();
    if (range.low > all.low)
        require(value >= integer(range.low));
    if (range.high < all.high)
        require(value <= integer(range.high));
}

std::optional<z3::expr> NumberEncoding::isNegative(Term term) {
    return number(term) < integer(0);
}

std::optional<z3::expr> NumberEncoding::isZero(Term term) {
    return number(term) == integer(0);
}

z3::expr NumberEncoding::number(Term term) {
    if (!terms().functionOf(term).empty())
        return atom(term);
    z3::expr sum = integer(0);
    for (const TermTable::Monomial& part : terms().monomials(term))
        sum = part.atoms.empty() ? sum + integer(part.factor)
                                 : sum + integer(part.factor) * product(part.atoms);
    keepWithin(sum, terms().range(term, {}));
    return sum;
}

z3::expr NumberEncoding::quotient(Term dividend, Wide divisor) {
    if (const auto known = quotients_.find({dividend, divisor}); known != quotients_.end())
        return known->second;
    const z3::expr result = context().int_const(fresh("quotient").c_str());
    quotients_.emplace(std::pair(dividend, divisor), result);
    const z3::expr of = number(dividend);
    const z3::expr rest = of - integer(divisor) * result;
    const z3::expr natural = rest >= integer(0) && rest < integer(divisor);
    const z3::expr negative = rest <= integer(0) && rest > integer(-divisor);
    if (terms().range(dividend, {}).low >= 0)
        require(natural);
    else
        require(z3::ite(of >= integer(0), natural, negative));
    return result;
}

z3::expr NumberEncoding::atom(Term term) {
    if (const auto known = atoms_.find(term); known != atoms_.end())
        return known->second;
    const KnownOperation operation = operationOf(terms().functionOf(term));
    const std::vector<Term> arguments = terms().arguments(term);
    const z3::expr value = context().int_const(fmt::format("atom{}", term).c_str());
    atoms_.emplace(term, value);
    const IntegerRange range = terms().range(term, {});
    keepWithin(value, range);
    switch (operation.function) {
    case KnownFunction::Quotient:
    case KnownFunction::Remainder: {
        const auto divisor = terms().constant(arguments[1]);
        if (!divisor || *divisor <= 0)
            break;
        const z3::expr quotient = this->quotient(arguments[0], *divisor);
        require(value == (operation.function == KnownFunction::Quotient
                              ? quotient
                              : number(arguments[0]) - integer(*divisor) * quotient));
        break;
    }
    case KnownFunction::Choice:
        require(value == z3::ite(truth(arguments[0]), number(arguments[1]), number(arguments[2])));
        break;
    case KnownFunction::NumberOfTruth:
        require(value == z3::ite(truth(arguments[0]), integer(1), integer(0)));
        break;
    case KnownFunction::Wrap: {
        const z3::expr rounds = context().int_const(fresh("rounds").c_str());
        require(value == number(arguments[0]) + integer(Wide{1} << operation.bits) * rounds);
        break;
    }
    case KnownFunction::Least:
    case KnownFunction::Largest: {
        const z3::expr left = number(arguments[0]);
        const z3::expr right = number(arguments[1]);
        const bool isLeast = operation.function == KnownFunction::Least;
        require(value == z3::ite(isLeast ? left < right : right < left, left, right));
        break;
    }
    case KnownFunction::And:
        // Clearing bits of a natural number does not make it larger.
        for (const Term argument : arguments)
            if (terms().range(argument, {}).low >= 0)
                require(value >= integer(0) && value <= number(argument));
        break;
    default:
        break;
    }
    return value;
}

z3::expr NumberEncoding::product(const std::vector<Term>& atoms) {
    if (atoms.size() == 1)
        return atom(atoms.front());
    for (const SolverProduct& known : products_)
        if (known.atoms == atoms)
            return known.value;
    const z3::expr value = context().int_const(fresh("product").c_str());
    products_.push_back({atoms, value});
    Term whole = terms().integer(1);
    for (const Term atom : atoms)
        whole = terms().multiply(whole, atom);
    keepWithin(value, terms().range(whole, {}));
    for (auto at = atoms.begin(); at != atoms.end(); at = std::upper_bound(at, atoms.end(), *at)) {
        const z3::expr factor = atom(*at);
        const z3::expr rest = product(without(atoms, *at));
        require(z3::implies(factor == integer(0), value == integer(0)));
        require(z3::implies(factor == integer(1), value == rest));
        require(z3::implies(factor >= integer(1) && rest >= integer(0), value >= rest));
    }
    const std::size_t count = std::min(products_.size(), maxComparedProducts);
    for (std::size_t i = 0; i < count; ++i)
        compare(SolverProduct(products_[i]), {atoms, value});
    return value;
}

/// `a * c` and `b * c` differ by `c` at least where `a` and `b` differ and `c` is not negative.
void NumberEncoding::compare(const SolverProduct& one, const SolverProduct& other) {
    const auto factors = sharedFactor(one.atoms, other.atoms);
    if (!factors)
        return;
    const z3::expr left = atom(factors->left);
    const z3::expr right = atom(factors->right);
    const z3::expr shared = product(factors->common);
    const z3::expr isNatural = shared >= integer(0);
    require(z3::implies(left == right, one.value == other.value));
    require(z3::implies(isNatural && left < right, one.value + shared <= other.value));
    require(z3::implies(isNatural && right < left, other.value + shared <= one.value));
}

} // namespace kernelskill::engine
