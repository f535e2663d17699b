/// Decides with Z3 whether conditions on integers can hold at once, where bits, shifts, division,
/// remainders and products stand in them.
///
/// Integers stay numbers, as in a TermTable. They are written in two ways, and one of them is
/// enough to exclude a case:
/// - as Z3's integers, where functions of bits count as any number of their range;
/// - as bit vectors that are wide enough for every number that a sum or a product can be, so that
///   no sum wraps around. What wraps around in the kernel is a function of its own there: it cuts a
///   vector off. Signed sums that may leave their type are numbers beyond it, as everywhere in a
///   proof, which takes it that the original has no such sum and notes those of the candidate.
/// What cannot be written counts as any truth value, and products of unknowns as numbers that grow
/// with their factors. So what is found impossible is so.
#pragma once

#include "engine/proof/terms.h"

#include <expected>
#include <memory>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Owns Z3's memory. For one thread.
class IntegerSolver {
public:
    enum class Answer : std::uint8_t {
        Never,    ///< The conditions cannot hold at once.
        Possible, ///< None of this is known: they hold for numbers that Z3 found, if it knew all.
    };

    /// `steps` bounds the work for a question, in Z3's own unit; the number of questions is bounded
    /// as well. The same questions have the same answers on every machine, unless a single step of
    /// Z3 takes longer than two seconds.
    explicit IntegerSolver(unsigned steps = defaultSteps);
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
    /// Made with the first question: that takes some milliseconds.
    [[nodiscard]] Context& context();

    unsigned steps_;
    int bitQuestions_ = 0;
    std::unique_ptr<Context> context_;
};

/// Whether a condition holds what sets of points cannot tell, and the solver may: functions of
/// bits, values that wrap around, unknown divisors, or products that share a factor.
[[nodiscard]] bool needsSolver(const TermTable& terms, const std::vector<Term>& truths);

} // namespace kernelskill::engine
