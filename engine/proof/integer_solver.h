/// Decides with Z3 whether conditions on integers can hold at once, where bits, shifts, division,
/// remainders and products stand in them.
///
/// Integers stay numbers, as in a TermTable. They are written in two ways, and one of them is
/// enough to exclude a case:
/// - as Z3's integers, where functions of bits count as any number of their range;
/// - as bit vectors that are wide enough for every sum and product, so that none wraps around. A
///   value that wraps around in the kernel is a function that cuts off the vector. A signed sum may
///   exceed its type, as everywhere in a proof: the proof assumes that the original has no such
///   sum, and notes those of the candidate.
/// A condition that cannot be written counts as any truth value, and a product of unknowns as any
/// number that grows with its factors. Therefore a case that is found impossible is impossible.
#pragma once

#include "engine/proof/terms.h"

#include <expected>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Owns Z3's memory. For one thread.
class IntegerSolver {
public:
    enum class Answer : std::uint8_t {
        Never,    ///< The conditions cannot hold at once.
        Possible, ///< Z3 found numbers, which may rest on functions that it does not know.
    };

    /// `steps` is the max work for a question, in Z3's unit of resources. The number of questions
    /// is bounded, too. Answers are the same on every machine, unless a question takes Z3 longer
    /// than two seconds.
    explicit IntegerSolver(unsigned steps = defaultSteps);
    /// `stop` also ends a question that is under way.
    explicit IntegerSolver(std::stop_token stop);
    ~IntegerSolver();
    IntegerSolver(const IntegerSolver&) = delete;
    IntegerSolver& operator=(const IntegerSolver&) = delete;

    /// The error says what Z3 could not do, or that the question takes more steps than allowed.
    [[nodiscard]] std::expected<Answer, std::string> ask(TermTable& terms,
                                                         const std::vector<Term>& truths);

private:
    static constexpr unsigned defaultSteps = 1'000'000;

    /// Questions of bits take 20 to 50 ms each.
    static constexpr int maxBitQuestions = 10;

    struct Context;
    /// Creates Z3's context at the first question, which takes some milliseconds.
    [[nodiscard]] Context& context();

    unsigned steps_;
    std::stop_token stop_;
    int bitQuestions_ = 0;
    std::unique_ptr<Context> context_;
};

/// Whether the solver may decide what sets of points cannot: the conditions contain functions of
/// bits, values that wrap around, unknown divisors, or products that share a factor.
[[nodiscard]] bool needsSolver(const TermTable& terms, const std::vector<Term>& truths);

} // namespace kernelskill::engine
