#include "analysis/raise/inverse.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <utility>

namespace kernelskill::analysis::raise {

namespace {

using Atom = Index::Atom;

/// A term of a sum: a factor, of numbers and sizes, times an axis, quotient or remainder.
struct Term {
    Index factor;
    Index::AtomRef atom;
};

/// left = right: left over the axes, right over the components.
struct Equation {
    Index left;
    Index right;
};

/// The terms of the index, without its constants; nullopt if a term has another form.
std::optional<std::vector<Term>> termsOf(const Index& index, Index& constants) {
    std::vector<Term> terms;
    for (const Index::Monomial& monomial : index.monomials()) {
        Term term{monomial.factor, nullptr};
        for (const Index::AtomRef& atom : monomial.atoms) {
            if (atom->kind == Atom::Kind::Size) {
                term.factor = term.factor * Index::of(atom);
                continue;
            }
            if (term.atom != nullptr || atom->kind == Atom::Kind::Data)
                return std::nullopt;
            term.atom = atom;
        }
        if (term.atom == nullptr)
            constants = constants + term.factor;
        else
            terms.push_back(std::move(term));
    }
    return terms;
}

bool divides(const Index& factor, const Index& other) {
    return remainder(other, factor).isZero();
}

/// The terms in an order in which each factor divides the next, if there is one.
std::vector<Term> smallestFirst(const std::vector<Term>& terms) {
    std::multimap<std::ptrdiff_t, Term, std::greater<>> sorted;
    for (const Term& term : terms)
        sorted.emplace(
            std::ranges::count_if(
                terms, [&](const Term& other) { return divides(term.factor, other.factor); }),
            term);
    std::vector<Term> result;
    for (const auto& [multiples, term] : sorted)
        result.push_back(term);
    return result;
}

class Solving {
public:
    void add(Equation equation) { open_.push_back(std::move(equation)); }

    void run() {
        while (!open_.empty()) {
            const Equation equation = open_.back();
            open_.pop_back();
            solve(equation);
            if (open_.empty())
                joinParts();
        }
    }

    [[nodiscard]] std::optional<Index> valueOf(const std::string& key) const {
        const auto known = known_.find(key);
        return known == known_.end() ? std::nullopt : std::optional(known->second.value);
    }

private:
    struct Known {
        Index::AtomRef atom;
        Index value;
    };

    void solve(const Equation& equation) {
        Index constants;
        auto terms = termsOf(equation.left, constants);
        if (!terms || terms->empty())
            return;
        const Index right = equation.right - constants;
        if (terms->size() == 1 && terms->front().factor.constant() == -1) {
            know(terms->front().atom, right * Index(-1));
            return;
        }
        const std::vector<Term> sorted = smallestFirst(*terms);
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            const Term& term = sorted[i];
            const auto factor = term.factor.constant();
            if (factor && *factor <= 0)
                return;
            const Index below =
                i + 1 < sorted.size() ? remainder(right, sorted[i + 1].factor) : right;
            know(term.atom, quotient(below, term.factor));
        }
    }

    void know(const Index::AtomRef& atom, Index value) {
        const auto [known, isNew] = known_.try_emplace(atom->key, Known{atom, std::move(value)});
        if (isNew && atom->kind == Atom::Kind::Remainder)
            remainders_.insert(atom->key);
    }

    /// x is d * (x / d) + x % d where both are known.
    void joinParts() {
        for (auto key = remainders_.begin(); key != remainders_.end();) {
            const Known& rest = known_.at(*key);
            const auto whole = evaluated(quotient(*rest.atom->left, *rest.atom->right));
            if (!whole) {
                ++key;
                continue;
            }
            open_.push_back({*rest.atom->left, *whole * *rest.atom->right + rest.value});
            key = remainders_.erase(key);
        }
    }

    [[nodiscard]] std::optional<Index> evaluated(const Index& index) const {
        Index sum;
        for (const Index::Monomial& monomial : index.monomials()) {
            Index product = monomial.factor;
            for (const Index::AtomRef& atom : monomial.atoms) {
                if (atom->kind == Atom::Kind::Size) {
                    product = product * Index::of(atom);
                    continue;
                }
                const auto value = valueOf(atom->key);
                if (!value)
                    return std::nullopt;
                product = product * *value;
            }
            sum = sum + product;
        }
        return sum;
    }

    std::vector<Equation> open_;
    std::map<std::string, Known> known_;
    std::set<std::string> remainders_;
};

} // namespace

Inverse inverseOf(const std::vector<Index>& position, const std::vector<Axis>& axes,
                  const std::vector<Axis>& components) {
    Solving solving;
    std::map<std::uint32_t, Index> given;
    for (std::size_t i = position.size(); i-- > 0;) {
        solving.add({position[i], Index::of(components[i])});
        given.emplace(components[i].id, position[i]);
    }
    solving.run();
    Inverse inverse{{}, true};
    for (const Axis& axis : axes) {
        const Index own = Index::of(axis);
        if (own.isZero()) {
            inverse.axes.emplace(axis.id, 0);
            continue;
        }
        const auto value = solving.valueOf(own.monomials().front().atoms.front()->key);
        if (value && joined(value->substituted(given)) == own)
            inverse.axes.emplace(axis.id, *value);
        else
            inverse.isWhole = false;
    }
    return inverse;
}

bool coversAll(const std::vector<Axis>& axes, const std::vector<Index>& shape) {
    return elementsOf(extentsOf(axes)) == elementsOf(shape);
}

bool isInsideOf(const std::vector<Index>& position, const std::vector<Index>& shape) {
    for (std::size_t i = 0; i < position.size(); ++i)
        if (!isWithin(position[i], shape[i]))
            return false;
    return true;
}

} // namespace kernelskill::analysis::raise
