#include "engine/proof/integer_facts.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using analysis::ScalarKind;

class IntegerFactsTest : public ::testing::Test {
protected:
    Term below(Term left, Term right) { return terms.isNegative(terms.subtract(left, right), {}); }

    TermTable terms{{}};
    IntegerFacts facts{terms};
    Term i = terms.symbol("i", {0, (Wide{1} << 31) - 1});
    Term n = terms.symbol("n", valuesOf(ScalarKind::Int32));
    Term four = terms.integer(4);
};

TEST_F(IntegerFactsTest, KnowQuotients) {
    const Term last = terms.add(terms.multiply(four, i), terms.integer(3));
    const Facts inGroup{below(i, terms.divide(n, four))};
    EXPECT_TRUE(facts.implies(inGroup, below(last, n)));
    EXPECT_FALSE(facts.implies(inGroup, below(terms.add(last, terms.integer(1)), n)));
    EXPECT_TRUE(facts.within(last, valuesOf(ScalarKind::Int32), inGroup));
    EXPECT_FALSE(facts.within(last, valuesOf(ScalarKind::Int32), {}));
    // A negative number is rounded up.
    EXPECT_FALSE(
        facts.implies({}, terms.negation(below(n, terms.multiply(four, terms.divide(n, four))))));
}

TEST_F(IntegerFactsTest, KnowBothSidesOfAChoice) {
    const Term aligned = terms.apply("aligned", {}, {0, 1});
    const Term groups = terms.choice(aligned, terms.divide(n, four), terms.integer(0), false);
    EXPECT_TRUE(facts.implies({below(i, groups)}, aligned));
    EXPECT_FALSE(facts.implies({below(groups, i)}, aligned));
    EXPECT_TRUE(facts.excludes({below(i, groups), terms.negation(aligned)}));
}

TEST_F(IntegerFactsTest, TakeAProductForAnyNumber) {
    const Term columns = terms.symbol("columns", valuesOf(ScalarKind::Int32));
    const Term product = terms.multiply(i, columns);
    EXPECT_FALSE(facts.excludes({below(product, columns), below(terms.integer(1), i)}));
    EXPECT_TRUE(facts.excludes({below(product, columns), below(columns, product)}));
}

TEST_F(IntegerFactsTest, KeepWhatIsAssumed) {
    const Term less = below(terms.add(n, i), terms.integer(100));
    EXPECT_FALSE(facts.implies({}, less));
    facts.assume(less);
    EXPECT_TRUE(facts.implies({}, below(n, terms.integer(100))));
}

} // namespace
} // namespace kernelskill::engine
