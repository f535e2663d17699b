#include "engine/proof/terms.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using analysis::ScalarKind;

constexpr IntegerRange ints{-(Wide{1} << 31), (Wide{1} << 31) - 1};

TEST(TermTable, GivesEqualPolynomialsOneTerm) {
    TermTable terms({});
    const Term a = terms.symbol("a", ints);
    const Term b = terms.symbol("b", ints);
    const Term two = terms.integer(2);
    const Term left = terms.multiply(terms.add(a, b), two);
    const Term right = terms.add(terms.multiply(two, b), terms.add(a, a));
    EXPECT_EQ(left, right);
    EXPECT_NE(left, terms.add(left, terms.integer(1)));
    EXPECT_EQ(terms.subtract(left, right), terms.integer(0));
}

TEST(TermTable, WrapsOnlyWhatMayNotFit) {
    TermTable terms({});
    const Term a = terms.symbol("a", {0, 1000});
    EXPECT_EQ(terms.wrapped(a, ScalarKind::UInt32, {}), a);
    const Term difference = terms.subtract(a, terms.integer(1));
    EXPECT_NE(terms.wrapped(difference, ScalarKind::UInt32, {}), difference);
    EXPECT_EQ(terms.wrapped(terms.integer(-1), ScalarKind::UInt32, {}),
              terms.integer((Wide{1} << 32) - 1));
    EXPECT_EQ(terms.wrapped(terms.integer(300), ScalarKind::UInt8, {}), terms.integer(44));
    // What wrapped at 32 bits is not what wraps at 64.
    const Term b = terms.symbol("b", valuesOf(ScalarKind::UInt32));
    const Term narrow = terms.wrapped(terms.add(b, b), ScalarKind::UInt32, {});
    EXPECT_NE(terms.wrapped(narrow, ScalarKind::UInt64, {}),
              terms.wrapped(terms.add(b, b), ScalarKind::UInt64, {}));
    // An unsigned sum may be taken in any order.
    const Term c = terms.symbol("c", valuesOf(ScalarKind::UInt32));
    EXPECT_EQ(terms.wrapped(terms.add(narrow, c), ScalarKind::UInt32, {}),
              terms.wrapped(terms.add(b, terms.add(b, c)), ScalarKind::UInt32, {}));
}

TEST(TermTable, LetsFactsBoundTerms) {
    TermTable terms({});
    const Term a = terms.symbol("a", ints);
    const Term n = terms.symbol("n", ints);
    const Term below = terms.isNegative(terms.subtract(a, n), {});
    const Facts facts = terms.literals(below);
    EXPECT_EQ(terms.range(terms.subtract(n, a), facts).low, 1);
    EXPECT_EQ(terms.decided(terms.isNegative(terms.subtract(a, terms.add(n, terms.integer(3))), {}),
                            facts),
              terms.truth(true));
    EXPECT_NE(
        terms.decided(terms.isNegative(terms.subtract(a, terms.subtract(n, terms.integer(1))), {}),
                      facts),
        terms.truth(true));
}

TEST(TermTable, KnowsTruth) {
    TermTable terms({});
    const Term a = terms.symbol("a", ints);
    const Term p = terms.isNegative(a, {});
    EXPECT_EQ(terms.negation(terms.negation(p)), p);
    EXPECT_EQ(terms.both(p, terms.negation(p)), terms.truth(false));
    EXPECT_EQ(terms.choice(p, terms.truth(false), terms.truth(true), true), terms.negation(p));
    const Term x = terms.symbol("x");
    const Term y = terms.symbol("y");
    EXPECT_EQ(terms.choice(p, x, y, false), terms.choice(terms.negation(p), y, x, false));
    EXPECT_NE(terms.choice(p, x, y, false), terms.choice(p, y, x, false));
}

TEST(TermTable, TakesOutWhatBothBranchesHave) {
    TermTable terms({});
    const Term p = terms.isNegative(terms.symbol("a", ints), {});
    const Term x = terms.symbol("x", ints);
    const Term two = terms.integer(2);
    const Term zero = terms.integer(0);
    EXPECT_EQ(terms.choice(p, terms.add(x, two), x, false),
              terms.add(x, terms.choice(p, two, zero, false)));
    EXPECT_NE(terms.choice(p, terms.add(x, two), x, false),
              terms.add(x, terms.choice(p, zero, two, false)));
}

TEST(TermTable, BoundsAProductByItsFactors) {
    TermTable terms({});
    const Term sum = terms.add(terms.symbol("a", {0, 5}), terms.symbol("b", {-5, 0}));
    const Term square = terms.multiply(sum, sum);
    EXPECT_EQ(terms.range(square, {}).high, 25);
    EXPECT_EQ(terms.range(square, {}).low, -25);
}

TEST(TermTable, KeepsTheRangeOfAQuotientWithoutFacts) {
    TermTable terms({});
    const Term a = terms.symbol("a", ints);
    EXPECT_LT(terms.range(terms.divide(a, terms.integer(2)), {}).low, 0);
    EXPECT_EQ(terms.divide(terms.integer(-7), terms.integer(2)), terms.integer(-3));
}

} // namespace
} // namespace kernelskill::engine
