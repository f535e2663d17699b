#include "kernelskill/math_intrinsics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace {

/// Units in the last place of `exact` as a float.
double ulps(float actual, double exact) {
    const float rounded = static_cast<float>(exact);
    const double unit = std::nextafter(std::fabs(rounded), HUGE_VALF) - std::fabs(rounded);
    return std::fabs(actual - exact) / unit;
}

TEST(Approximations, ErrWithinTheirDocumentedBoundsAndNearThem) {
    std::mt19937 engine(5);
    std::uniform_real_distribution<float> numbers(-20.0f, 20.0f);
    double worstExponential = 0, worstLogarithm = 0, worstQuotient = 0, worstSine = 0;
    int above = 0;
    constexpr int count = 10000;
    for (int i = 0; i < count; ++i) {
        const float x = numbers(engine);
        const double exact = x;
        const double bound = 2 + std::floor(std::fabs(1.173 * exact));
        worstExponential = std::max(worstExponential, ulps(__expf(x), std::exp(exact)) / bound);
        above += __expf(x) > std::exp(exact);
        const float y = std::fabs(x) + 2.5f;
        worstLogarithm =
            std::max(worstLogarithm, ulps(__logf(y), std::log(static_cast<double>(y))));
        worstQuotient = std::max(worstQuotient, ulps(__fdividef(x, y), exact / y));
        const float angle = x / 7;
        worstSine =
            std::max(worstSine, std::fabs(__sinf(angle) - std::sin(static_cast<double>(angle))));
    }
    EXPECT_LE(worstExponential, 1.0);
    EXPECT_GT(worstExponential, 0.5);
    EXPECT_LE(worstLogarithm, 3.0);
    EXPECT_GT(worstLogarithm, 1.0);
    EXPECT_LE(worstQuotient, 2.0);
    EXPECT_GT(worstQuotient, 0.7);
    EXPECT_LE(worstSine, std::exp2(-21.41) + std::exp2(-24));
    EXPECT_GT(worstSine, std::exp2(-21.5));
    // Errors must not all have one sign.
    EXPECT_NEAR(above, count / 2, count / 20);
}

TEST(Approximations, AreTheSameForTheSameArgument) {
    EXPECT_EQ(__expf(1.25f), __expf(1.25f));
    EXPECT_NE(__expf(1.25f), expf(1.25f));
}

TEST(Approximations, AreExactAtPowersOfTwo) {
    for (int i = -20; i <= 20; ++i) {
        const auto exponent = static_cast<float>(i);
        EXPECT_EQ(__exp2f(exponent), std::ldexp(1.0f, i));
        EXPECT_EQ(__powf(2.0f, exponent), std::ldexp(1.0f, i));
        EXPECT_EQ(__log2f(std::ldexp(1.0f, i)), exponent);
    }
    EXPECT_EQ(__powf(4.0f, 0.5f), 2.0f);
    EXPECT_NE(__powf(3.0f, 3.0f), 27.0f);
    EXPECT_TRUE(std::isnan(__exp2f(NAN)));
    EXPECT_EQ(__exp2f(-HUGE_VALF), 0.0f);
}

TEST(Approximations, HaveTheDocumentedGaps) {
    EXPECT_TRUE(std::isnan(__powf(-2.0f, 2.0f)));
    EXPECT_NEAR(__powf(3.0f, 9.0f), 19683.0, 1e-1);
    EXPECT_EQ(__fdividef(1.0f, 0x1p127f), 0.0f);
    EXPECT_TRUE(std::isnan(__fdividef(HUGE_VALF, 0x1p127f)));
    EXPECT_EQ(__fdividef(1.0f, HUGE_VALF), 0.0f);
    EXPECT_EQ(__expf(200.0f), HUGE_VALF);
    EXPECT_EQ(__expf(-HUGE_VALF), 0.0f);
    EXPECT_EQ(__logf(0.0f), -HUGE_VALF);
    // The reduction of large arguments.
    const double error = std::fabs(__sinf(1000.0f) - std::sin(1000.0));
    EXPECT_GT(error, 1e-5);
    EXPECT_LT(error, 1e-3);
}

} // namespace
