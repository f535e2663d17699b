#include "engine/proof/equal_terms.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using analysis::ScalarKind;

class EqualTermsTest : public ::testing::Test {
protected:
    Term mask(Term of, Wide bits) {
        return terms.apply("&" + std::to_string(static_cast<int>(ScalarKind::Int32)),
                           {of, terms.integer(bits)}, valuesOf(ScalarKind::Int32));
    }

    TermTable terms{{}};
    IntegerSolver solver;
    IntegerFacts integers{terms, &solver};
    EqualTerms equals{terms, integers};
    Term i = terms.symbol("i", valuesOf(ScalarKind::Int32));
    Term natural = terms.symbol("natural", {0, 1 << 20});
};

TEST_F(EqualTermsTest, FindsTheTermThatWasNotedFirst) {
    const Term rest = equals.firstEqual(terms.remainder(natural, terms.integer(16)), {});
    EXPECT_EQ(rest, terms.remainder(natural, terms.integer(16)));
    EXPECT_EQ(equals.firstEqual(mask(natural, 15), {}), rest);
    EXPECT_EQ(equals.firstEqual(mask(natural, 14), {}), mask(natural, 14));
}

TEST_F(EqualTermsTest, HoldsWhatFactsTellForThemAlone) {
    const Term rest = equals.firstEqual(terms.remainder(i, terms.integer(16)), {});
    const Facts isNatural{terms.isNegative(terms.subtract(terms.integer(-1), i), {})};
    EXPECT_EQ(equals.firstEqual(mask(i, 15), {}), mask(i, 15));
    EXPECT_EQ(equals.firstEqual(mask(i, 15), isNatural), rest);
    EXPECT_EQ(equals.firstEqual(mask(i, 15), {}), mask(i, 15));
}

TEST_F(EqualTermsTest, TakesATruthForTheNegationOfAnother) {
    const Term even = equals.firstEqualTruth(terms.isZero(mask(i, 1), {}), {});
    const Term odd = terms.negation(terms.isZero(terms.remainder(i, terms.integer(2)), {}));
    EXPECT_EQ(equals.firstEqualTruth(odd, {}), terms.negation(even));
    const Term third = terms.isZero(terms.remainder(i, terms.integer(3)), {});
    EXPECT_EQ(equals.firstEqualTruth(third, {}), third);
}

} // namespace
} // namespace kernelskill::engine
