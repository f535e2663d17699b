/// Finds integers that are the same number although they are written in other ways.
///
/// Terms that agree on numbers made up for their symbols are the same with some likelihood; such
/// pairs, and no others, are decided for all numbers.
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

    /// The term that was noted first of those that are the same number as `term` wherever the facts
    /// hold. If there is none, or none is found, notes `term` and returns it.
    [[nodiscard]] Term firstEqual(Term term, const Facts& facts);
    /// The same for a truth value; also the negation of what was noted.
    [[nodiscard]] Term firstEqualTruth(Term truth, const Facts& facts);

private:
    /// A term's values on all samples.
    using Print = std::vector<std::optional<Wide>>;

    [[nodiscard]] Print printOf(Term term);
    [[nodiscard]] bool areEqual(Term one, Term other, const Facts& facts);
    [[nodiscard]] bool areEqualTruths(Term one, Term other, const Facts& facts);
    /// Numbers of the samples on which all facts hold.
    [[nodiscard]] std::vector<std::size_t> samplesWith(const Facts& facts);
    [[nodiscard]] std::optional<Term> equalUnder(Term term, const Print& print, const Facts& facts);

    TermTable& terms_;
    IntegerFacts& integers_;
    std::vector<TermValues> samples_;
    std::vector<std::pair<Term, Print>> noted_; ///< In the order of their noting.
    std::map<Term, Term> everywhere_;           ///< What a term is whatever the facts.
    std::map<std::pair<Term, Facts>, Term> underFacts_;
    std::vector<std::pair<Term, Print>> notedTruths_;
    std::map<std::pair<Term, Facts>, Term> truths_;
};

} // namespace kernelskill::engine
