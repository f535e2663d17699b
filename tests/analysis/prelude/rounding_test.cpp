#include "kernelskill/math_intrinsics.h"

#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <random>

namespace {

TEST(Rounding, DirectedSumsBracketTheExactOne) {
    std::mt19937 engine(3);
    std::uniform_real_distribution<float> numbers(-100.0f, 100.0f);
    int inexact = 0;
    for (int i = 0; i < 10000; ++i) {
        const float a = numbers(engine), b = numbers(engine);
        const double exact = static_cast<double>(a) + b;
        const float down = __fadd_rd(a, b), up = __fadd_ru(a, b), zero = __fadd_rz(a, b);
        EXPECT_LE(down, exact);
        EXPECT_GE(up, exact);
        EXPECT_EQ(zero, exact < 0 ? up : down);
        EXPECT_TRUE(up == down || std::nextafter(down, up) == up);
        inexact += up != down;
    }
    EXPECT_GT(inexact, 500);
}

TEST(Rounding, FloatsBecomeIntegersAsTheGpuSaturatesThem) {
    EXPECT_EQ(__float2int_rn(2.5f), 2);
    EXPECT_EQ(__float2int_rn(3.5f), 4);
    EXPECT_EQ(__float2int_ru(-2.5f), -2);
    EXPECT_EQ(__float2int_rd(-2.5f), -3);
    EXPECT_EQ(__float2int_rz(1e20f), INT_MAX);
    EXPECT_EQ(__float2int_rz(-1e20f), INT_MIN);
    EXPECT_EQ(__float2int_rz(NAN), 0);
    EXPECT_EQ(__float2uint_rn(-1.0f), 0u);
    EXPECT_EQ(__float2uint_rz(5e9f), UINT_MAX);
    EXPECT_EQ(__double2ll_rn(1e300), LLONG_MAX);
}

TEST(Rounding, IntegersBecomeFloatsInTheNamedDirection) {
    const int odd = (1 << 24) + 1;
    EXPECT_EQ(__int2float_rd(odd), 16777216.0f);
    EXPECT_EQ(__int2float_ru(odd), 16777218.0f);
    EXPECT_EQ(__int2float_rz(-odd), -16777216.0f);
    EXPECT_EQ(__double2float_ru(1.0 + 1e-12), std::nextafter(1.0f, 2.0f));
}

TEST(Punning, BitsSurviveTheRoundTrip) {
    EXPECT_EQ(__float_as_int(1.0f), 0x3f800000);
    EXPECT_EQ(__int_as_float(0x7f800000), HUGE_VALF);
    EXPECT_EQ(__hiloint2double(__double2hiint(-0.1), __double2loint(-0.1)), -0.1);
}

TEST(MathFunctions, AreInversesOfEachOther) {
    for (double p = 0.001; p < 1; p += 0.013) {
        EXPECT_NEAR(normcdf(normcdfinv(p)), p, 1e-14);
        EXPECT_NEAR(erf(erfinv(2 * p - 1)), 2 * p - 1, 1e-14);
        EXPECT_NEAR(erfc(erfcinv(2 * p)), 2 * p, 1e-13);
    }
    EXPECT_EQ(sinpi(3.0), 0.0);
    EXPECT_EQ(cospi(0.5), 0.0);
    EXPECT_EQ(cospi(1.0), -1.0);
    EXPECT_NEAR(erfcx(30.0), 0.018795888861416751, 1e-15);
    EXPECT_NEAR(cyl_bessel_i0(1.0), 1.2660658777520084, 1e-14);
    EXPECT_FLOAT_EQ(rsqrtf(4.0f), 0.5f);
    EXPECT_EQ(__saturatef(NAN), 0.0f);
}

} // namespace
