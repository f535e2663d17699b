/// Finds integers that are the same number although they are written in other ways.
///
/// Each term is computed for some made-up numbers. Two terms that agree on all of them are probably
/// equal, and only such pairs are compared by a proof for all numbers.
#pragma once

#include "engine/proof/integer_facts.h"
#include "engine/proof/term_values.h"
#include "engine/proof/terms.h"

#include <map>
#include <optional>
#include <vector>

namespace kernelskill::engine {

/// Keeps the references. For one thread.
class EqualTerms {
public:
    EqualTerms(TermTable& terms, IntegerFacts& integers);

    /// The earliest term that is proved equal to `term` wherever the facts hold. If none is found,
    /// remembers `term` for later calls and returns it.
    [[nodiscard]] Term firstEqual(Term term, const Facts& facts);
    /// The same for a truth value. The result may also be the negation of an earlier one.
    [[nodiscard]] Term firstEqualTruth(Term truth, const Facts& facts);

private:
    /// A term's values on all samples.
    using Fingerprint = std::vector<std::optional<Wide>>;

    [[nodiscard]] Fingerprint fingerprintOf(Term term);
    [[nodiscard]] bool areEqual(Term one, Term other, const Facts& facts);
    [[nodiscard]] bool areEqualTruths(Term one, Term other, const Facts& facts);
    /// The indices of the samples on which all facts hold.
    [[nodiscard]] std::vector<std::size_t> samplesWith(const Facts& facts);
    [[nodiscard]] std::optional<Term> equalUnder(Term term, const Fingerprint& fingerprint,
                                                 const Facts& facts);

    TermTable& terms_;
    IntegerFacts& integers_;
    std::vector<TermValues> samples_;
    std::vector<std::pair<Term, Fingerprint>> noted_; ///< In the order of their noting.
    std::map<Term, Term> everywhere_;                 ///< The equal term without any facts.
    std::map<std::pair<Term, Facts>, Term> underFacts_;
    std::vector<std::pair<Term, Fingerprint>> notedTruths_;
    std::map<std::pair<Term, Facts>, Term> truths_;
};

} // namespace kernelskill::engine
