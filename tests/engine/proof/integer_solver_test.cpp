#include "engine/proof/integer_solver.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using analysis::ScalarKind;
using Answer = IntegerSolver::Answer;

class IntegerSolverTest : public ::testing::Test {
protected:
    Term bits(const char* op, Term left, Term right, ScalarKind kind) {
        return terms.apply(op + std::to_string(static_cast<int>(kind)), {left, right},
                           valuesOf(kind));
    }
    Term below(Term left, Term right) { return terms.isNegative(terms.subtract(left, right), {}); }
    Term equal(Term left, Term right) { return terms.isZero(terms.subtract(left, right), {}); }
    bool excludes(std::vector<Term> truths) {
        const auto answer = solver.ask(terms, truths);
        return answer && *answer == Answer::Never;
    }
    bool areSame(Term left, Term right) { return excludes({terms.negation(equal(left, right))}); }

    TermTable terms{{}};
    IntegerSolver solver;
    Term i = terms.symbol("i", valuesOf(ScalarKind::Int32));
    Term u = terms.symbol("u", valuesOf(ScalarKind::UInt32));
    Term n = terms.symbol("n", valuesOf(ScalarKind::Int32));
};

TEST_F(IntegerSolverTest, KnowsBitsOfBothSigns) {
    const Term seven = terms.integer(7);
    const Term eight = terms.integer(8);
    EXPECT_TRUE(areSame(bits("&", u, seven, ScalarKind::UInt32), terms.remainder(u, eight)));
    EXPECT_FALSE(areSame(bits("&", i, seven, ScalarKind::Int32), terms.remainder(i, eight)));
    const Term shifted = bits(">>", i, terms.integer(3), ScalarKind::Int32);
    EXPECT_FALSE(areSame(shifted, terms.divide(i, eight)));
    EXPECT_TRUE(excludes(
        {below(terms.integer(-1), i), terms.negation(equal(shifted, terms.divide(i, eight)))}));
    EXPECT_TRUE(areSame(
        terms.subtract(bits("|", i, n, ScalarKind::Int32), bits("&", i, n, ScalarKind::Int32)),
        bits("^", i, n, ScalarKind::Int32)));
}

TEST_F(IntegerSolverTest, LetsNoSumWrapAroundButWhatWraps) {
    // Numbers grow beyond their type; what wraps around does not.
    const Term next = terms.add(u, terms.integer(1));
    EXPECT_TRUE(excludes({equal(next, terms.integer(0))}));
    EXPECT_FALSE(excludes({equal(terms.wrapped(next, ScalarKind::UInt32, {}), terms.integer(0))}));
    EXPECT_TRUE(excludes({below(bits("&", u, next, ScalarKind::UInt32), terms.integer(0))}));
}

TEST_F(IntegerSolverTest, RoundsQuotientsTowardsZero) {
    const Term three = terms.integer(3);
    const Term quotient = terms.divide(i, three);
    EXPECT_TRUE(excludes({below(i, terms.integer(0)), below(terms.multiply(three, quotient), i)}));
    EXPECT_FALSE(excludes({below(i, terms.integer(0)), below(i, terms.multiply(three, quotient))}));
    const Term low = bits("&", quotient, terms.integer(1), ScalarKind::Int32);
    EXPECT_TRUE(
        excludes({equal(i, terms.integer(-7)), terms.negation(equal(low, terms.integer(0)))}));
}

TEST_F(IntegerSolverTest, LetsAnyValueComeOutOfAShiftThatMeansNothing) {
    const Term far = bits("<<", u, terms.integer(32), ScalarKind::UInt32);
    EXPECT_FALSE(excludes({equal(far, terms.integer(5))}));
    EXPECT_FALSE(excludes({terms.negation(equal(far, terms.integer(0)))}));
}

TEST_F(IntegerSolverTest, KnowsThatRowsAreApart) {
    const auto natural = [&](const char* name) {
        return terms.symbol(name, {0, (Wide{1} << 31) - 1});
    };
    const Term width = natural("width");
    const Term row = natural("row");
    const Term otherRow = natural("other row");
    const Term column = natural("column");
    const Term otherColumn = natural("other column");
    const std::vector<Term> meet{below(column, width), below(otherColumn, width),
                                 equal(terms.add(terms.multiply(row, width), column),
                                       terms.add(terms.multiply(otherRow, width), otherColumn))};
    std::vector<Term> differ = meet;
    differ.push_back(terms.negation(equal(row, otherRow)));
    EXPECT_TRUE(excludes(differ));
    EXPECT_FALSE(excludes(meet));
    differ.erase(differ.begin());
    EXPECT_FALSE(excludes(differ));
}

TEST_F(IntegerSolverTest, GivesUpWhenItTakesTooManySteps) {
    IntegerSolver hasty(1);
    const Term product = terms.multiply(terms.multiply(i, n), u);
    const auto answer = hasty.ask(
        terms, {below(terms.integer(7), product), below(bits("^", i, n, ScalarKind::Int32), u)});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error(), "Z3 found no answer within the allowed steps");
}

} // namespace
} // namespace kernelskill::engine
