/// Conditions on integers as Z3's formulas. Only the sources of IntegerSolver include this header.
#pragma once

#include "engine/proof/known_operations.h"
#include "engine/proof/terms.h"

#include <z3++.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Calls of Z3 may throw z3::exception. The references are kept.
class SolverEncoding {
public:
    SolverEncoding(z3::context& context, TermTable& terms) : context_(context), terms_(terms) {}
    virtual ~SolverEncoding() = default;
    SolverEncoding(const SolverEncoding&) = delete;
    SolverEncoding& operator=(const SolverEncoding&) = delete;

    /// The truth value as a formula. An unknown truth value becomes a free variable.
    [[nodiscard]] z3::expr truth(Term truth);
    /// The conditions that always hold for the numbers in the formulas.
    [[nodiscard]] const std::vector<z3::expr>& facts() const { return facts_; }

protected:
    /// nullopt if the number cannot be written.
    [[nodiscard]] virtual std::optional<z3::expr> isNegative(Term number) = 0;
    [[nodiscard]] virtual std::optional<z3::expr> isZero(Term number) = 0;

    [[nodiscard]] z3::context& context() const { return context_; }
    [[nodiscard]] TermTable& terms() const { return terms_; }
    void require(const z3::expr& fact) { facts_.push_back(fact); }
    [[nodiscard]] std::string fresh(std::string_view what);

private:
    [[nodiscard]] z3::expr freeTruth(Term truth);

    z3::context& context_;
    TermTable& terms_;
    std::map<Term, z3::expr> truths_;
    std::vector<z3::expr> facts_;
    int fresh_ = 0;
};

/// A product of unknowns. Formulas state how it grows with its factors.
struct SolverProduct {
    std::vector<Term> atoms; ///< Sorted.
    z3::expr value;
};

/// How two products of as many atoms differ.
struct SharedFactor {
    std::vector<Term> common;
    Term left;  ///< The first product's own factor.
    Term right; ///< The second one's.
};
/// nullopt unless they differ by one factor.
[[nodiscard]] std::optional<SharedFactor> sharedFactor(const std::vector<Term>& one,
                                                       const std::vector<Term>& other);

/// As Z3's integers; see IntegerSolver.
class NumberEncoding : public SolverEncoding {
public:
    using SolverEncoding::SolverEncoding;

private:
    [[nodiscard]] std::optional<z3::expr> isNegative(Term number) override;
    [[nodiscard]] std::optional<z3::expr> isZero(Term number) override;
    [[nodiscard]] z3::expr number(Term term);
    [[nodiscard]] z3::expr integer(Wide value);
    [[nodiscard]] z3::expr atom(Term term);
    [[nodiscard]] z3::expr quotient(Term dividend, Wide divisor);
    [[nodiscard]] z3::expr product(const std::vector<Term>& atoms);
    void compare(const SolverProduct& one, const SolverProduct& other);
    void keepWithin(const z3::expr& value, const IntegerRange& range);

    std::map<Term, z3::expr> atoms_;
    std::map<std::pair<Term, Wide>, z3::expr> quotients_;
    std::vector<SolverProduct> products_;
};

/// As bit vectors; see IntegerSolver.
class BitEncoding : public SolverEncoding {
public:
    using SolverEncoding::SolverEncoding;

private:
    /// A signed vector that holds exactly the numbers of the range.
    struct Bits {
        z3::expr value;
        IntegerRange range;
    };
    using Maybe = std::optional<Bits>;

    [[nodiscard]] std::optional<z3::expr> isNegative(Term number) override;
    [[nodiscard]] std::optional<z3::expr> isZero(Term number) override;
    [[nodiscard]] Maybe number(Term term);
    [[nodiscard]] Maybe sum(Term term);
    [[nodiscard]] Maybe atom(Term term);
    [[nodiscard]] Maybe unknown(const std::string& name, IntegerRange range);
    [[nodiscard]] Maybe product(const std::vector<Term>& atoms);
    void compare(const SolverProduct& one, const SolverProduct& other);
    [[nodiscard]] Maybe multiplied(const Bits& left, const Bits& right);
    [[nodiscard]] Maybe added(const Bits& left, const Bits& right);
    [[nodiscard]] Maybe quotient(Term atom, const Bits& dividend, Term divisor);
    [[nodiscard]] Maybe remainder(Term atom, const Bits& dividend, Term divisor);
    [[nodiscard]] Maybe ofBits(const KnownOperation& operation, const Bits& left,
                               const Bits& right);
    [[nodiscard]] Maybe chosen(const z3::expr& condition, const Bits& one, const Bits& other);
    [[nodiscard]] Bits constant(Wide value);
    /// The lowest bits, as an unsigned vector.
    [[nodiscard]] z3::expr lowest(const Bits& number, int bits);
    /// The number that the bits mean in a type.
    [[nodiscard]] Bits meant(const z3::expr& bits, bool isSignedType);
    [[nodiscard]] z3::expr widened(const Bits& number, unsigned width);
    /// The number with the range that the term is known to have, whatever its parts are.
    [[nodiscard]] Bits within(Term term, const Bits& number);

    std::map<Term, Maybe> numbers_;
    std::map<std::vector<Term>, Bits> products_;
    std::vector<SolverProduct> unknownProducts_;
};

} // namespace kernelskill::engine
