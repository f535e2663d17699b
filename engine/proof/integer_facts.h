/// Decides by sets of points what conditions, all of them taken together, imply for integers.
///
/// Products of unknowns, and functions of which nothing is known, count as any number of their
/// range: what is found impossible is so. If a solver is given, it decides questions about bits,
/// values that wrap around, and products.
#pragma once

#include "analysis/nest/polyhedra.h"
#include "engine/proof/integer_solver.h"
#include "engine/proof/terms.h"

#include <map>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// Keeps the reference and the pointer. For one thread. When `stop` is requested, nothing more is
/// found.
class IntegerFacts {
public:
    explicit IntegerFacts(TermTable& terms, IntegerSolver* solver = nullptr,
                          std::stop_token stop = {})
        : terms_(terms), solver_(solver), stop_(std::move(stop)),
          maxQuestions_(solver != nullptr ? maxQuestionsBesideSolver : maxQuestions) {}

    /// The truth value holds from now on.
    void assume(Term truth) { assumed_.push_back(truth); }

    /// Whether the truth values cannot hold all at once. False: not known, or asked too often.
    [[nodiscard]] bool excludes(std::vector<Term> truths);
    [[nodiscard]] bool implies(const Facts& facts, Term truth);
    [[nodiscard]] bool within(Term term, const IntegerRange& range, const Facts& facts);

private:
    /// Whether a part of the term, of which the facts say nothing, alone takes it out of any range
    /// of that size.
    [[nodiscard]] bool isLoose(Term term, const IntegerRange& range, const Facts& facts);

    /// Whether the solver excludes that all truths hold; false without a solver. `isOthersToo` also
    /// asks it about truths that sets of points can express but were too large for.
    [[nodiscard]] bool solverExcludes(const std::vector<Term>& truths, bool isOthersToo);

    /// So many questions take about 0.3 s.
    static constexpr int maxQuestions = 400;
    static constexpr int maxQuestionsBesideSolver = 80;

    TermTable& terms_;
    IntegerSolver* solver_;
    std::stop_token stop_;
    int maxQuestions_;
    int questions_ = 0;
    int solverQuestions_ = 0;
    std::vector<Term> assumed_;
    analysis::Polyhedra polyhedra_;
    std::map<std::vector<Term>, bool> known_;
};

} // namespace kernelskill::engine
