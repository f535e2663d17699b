/// Values as terms over what a kernel is given: equal terms are equal values, for all inputs.
///
/// Integers are meant as numbers, not as bits: a sum is a polynomial over atoms, and an atom of its
/// own stands for a value that wraps around. Equal terms have the same number, so that terms of two
/// kernels are compared by comparing their numbers in one table.
#pragma once

#include "analysis/syntax/syntax.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::engine {

using Term = std::uint32_t;
/// Holds sums of products of 64-bit numbers.
using Wide = __int128;

/// Integers from `low` to `high`, both included.
struct IntegerRange {
    Wide low;
    Wide high;

    [[nodiscard]] bool within(const IntegerRange& other) const {
        return other.low <= low && high <= other.high;
    }
};

/// Writes the number in decimal digits.
[[nodiscard]] std::string spelled(Wide value);

/// The values of an integer type; those of 64 signed bits for any other type.
[[nodiscard]] IntegerRange valuesOf(analysis::ScalarKind kind);
[[nodiscard]] bool isInteger(analysis::ScalarKind kind);
[[nodiscard]] bool isSigned(analysis::ScalarKind kind);
[[nodiscard]] int bitsOf(analysis::ScalarKind kind);

/// What a proof may take for granted of launches.
struct LaunchAssumptions {
    bool fewThreads = false; ///< Fewer than 2^31 threads an axis.
};

/// Literals that hold at a place: boolean terms, sorted.
using Facts = std::vector<Term>;

class TermTable {
public:
    explicit TermTable(LaunchAssumptions assumptions);

    // Integers.
    [[nodiscard]] Term integer(Wide value);
    [[nodiscard]] Term symbol(const std::string& name, IntegerRange range);
    [[nodiscard]] Term symbol(const std::string& name) { return symbol(name, unbounded()); }
    [[nodiscard]] Term add(Term left, Term right);
    [[nodiscard]] Term subtract(Term left, Term right);
    [[nodiscard]] Term multiply(Term left, Term right);
    /// The value of `term` after a conversion to an integer type.
    [[nodiscard]] Term wrapped(Term term, analysis::ScalarKind kind, const Facts& facts);
    /// Rounds towards zero. The divisor is not zero.
    [[nodiscard]] Term divide(Term left, Term right);
    [[nodiscard]] Term remainder(Term left, Term right);
    [[nodiscard]] std::optional<Wide> constant(Term term) const;
    [[nodiscard]] IntegerRange range(Term term, const Facts& facts) const;

    /// A function of terms, of which nothing is known but that it is one.
    [[nodiscard]] Term apply(const std::string& function, std::vector<Term> arguments,
                             IntegerRange range);
    [[nodiscard]] Term apply(const std::string& function, std::vector<Term> arguments) {
        return apply(function, std::move(arguments), unbounded());
    }
    /// The arguments of apply(function, ...); nullptr if the term is not one.
    [[nodiscard]] const std::vector<Term>* argumentsOf(Term term, std::string_view function) const;

    /// The function's name; empty for a polynomial.
    [[nodiscard]] const std::string& functionOf(Term term) const { return nodes_[term].function; }
    [[nodiscard]] const std::vector<Term>& arguments(Term term) const {
        return nodes_[term].arguments;
    }

    // The number of a thread along x.
    /// Makes `blockIdx.x * blockDim.x + threadIdx.x` the term `number` in all sums made from now
    /// on.
    void placeThreads(Term number);
    /// Runs `work` with another number, which is in `range` as long as it runs.
    void placeThreadsAt(Term number, IntegerRange range, const std::function<void()>& work);

    /// Whether the work of placeThreadsAt() is under way.
    [[nodiscard]] bool isPlaced() const { return isPlaced_; }

    /// Tells whether a term is in a range where facts hold; asked where the ranges of atoms do not
    /// tell it. False: not known.
    using Oracle = std::function<bool(Term, const IntegerRange&, const Facts&)>;
    void consult(Oracle oracle) { oracle_ = std::move(oracle); }
    [[nodiscard]] bool fits(Term term, const IntegerRange& values, const Facts& facts) const {
        return range(term, facts).within(values) || (oracle_ && oracle_(term, values, facts));
    }

    // Truth values.
    [[nodiscard]] Term truth(bool value);
    [[nodiscard]] Term isNegative(Term term, const Facts& facts);
    [[nodiscard]] Term isZero(Term term, const Facts& facts);
    [[nodiscard]] Term negation(Term truth);
    [[nodiscard]] Term both(Term left, Term right);
    [[nodiscard]] Term either(Term left, Term right);
    /// `chosen` if `condition` holds, else `other`; also for truth values and memories.
    [[nodiscard]] Term choice(Term condition, Term chosen, Term other, bool isTruth);
    /// The literals of a conjunction.
    [[nodiscard]] Facts literals(Term truth) const;
    /// True or false if the facts decide it; else the same truth value.
    [[nodiscard]] Term decided(Term truth, const Facts& facts);

    /// The parts of `term` as a polynomial; for loops that add to what they carry.
    struct Monomial {
        std::vector<Term> atoms; ///< Sorted.
        Wide factor;
    };
    [[nodiscard]] std::vector<Monomial> monomials(Term term) const;
    /// `term` with other terms for some atoms, wherever they stand.
    [[nodiscard]] Term substituted(Term term, const std::map<Term, Term>& replacements);

    /// All apply(function, ...) that stand anywhere in the term.
    [[nodiscard]] std::vector<Term> within(Term term, std::string_view function) const;
    /// Whether `isMeant` holds of a symbol in the term, or of a value of which nothing is known.
    [[nodiscard]] bool anyAtom(Term term, const std::function<bool(Term)>& isMeant) const;
    /// Whether the atom stands anywhere in the term.
    [[nodiscard]] bool mentions(Term term, Term atom) const;

    /// Whether a conversion was left out because there are fewer than 2^31 threads an axis.
    [[nodiscard]] bool usedFewThreads() const { return usedFewThreads_; }
    [[nodiscard]] std::size_t size() const { return nodes_.size(); }
    /// For error messages and tests.
    [[nodiscard]] std::string describe(Term term, int depth = 6) const;

    [[nodiscard]] static IntegerRange unbounded();

private:
    using Polynomial = std::map<std::vector<Term>, Wide>;
    struct Node {
        std::string function;        ///< Empty: a polynomial.
        std::vector<Term> arguments; ///< Of a function.
        Polynomial polynomial;
        IntegerRange range;
    };
    using Key = std::pair<std::string, std::vector<Term>>;

    template <typename Visitor>
    void visit(Term term, const Visitor& visitor) const;
    [[nodiscard]] Polynomial polynomialOf(Term term) const;
    /// Puts the number of the thread in the place of its parts.
    void placeNumber(Polynomial& polynomial) const;
    [[nodiscard]] Term ofPolynomial(Polynomial polynomial);
    [[nodiscard]] std::optional<Polynomial> product(const Polynomial& left,
                                                    const Polynomial& right) const;
    [[nodiscard]] IntegerRange rangeOf(const Polynomial& polynomial, bool fewThreads) const;
    /// The range that the term has also when placeThreadsAt() is over.
    [[nodiscard]] IntegerRange lastingRange(Term term) const;
    [[nodiscard]] IntegerRange narrowed(Term term, IntegerRange range, const Facts& facts) const;
    /// `term`, of which it is known that it is in `range`.
    Term bounded(Term term, IntegerRange range);
    /// `term` without the wrapping atoms that a wrap to `bits` makes superfluous.
    [[nodiscard]] Term unwrapped(Term term, int bits);
    [[nodiscard]] Term reduced(Term term, int bits);

    LaunchAssumptions assumptions_;
    std::vector<Node> nodes_;
    std::map<Key, Term> functions_;
    std::map<std::vector<std::pair<std::vector<Term>, Wide>>, Term> polynomials_;
    /// Of sums and products, where the ranges of their operands tell more than the polynomial.
    std::map<Term, IntegerRange> bounds_;
    /// The terms of blockDim, blockIdx, threadIdx and gridDim along one axis.
    using AxisTerms = std::array<std::optional<Term>, 4>;
    std::array<AxisTerms, 3> axisTerms_;
    bool usedFewThreads_ = false;
    std::optional<Term> number_;             ///< See placeThreads().
    Term block_ = 0, size_ = 0, thread_ = 0; ///< The parts of the number.
    bool isPlaced_ = false;
    Oracle oracle_;
};

} // namespace kernelskill::engine
