#include "cuda_bf16.h"
#include "cuda_fp16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>

namespace {

/// The value of a code with `mantissaBits` and `exponentBits`, computed from the definition.
double meaning(unsigned code, int mantissaBits, int exponentBits) {
    const int bias = (1 << (exponentBits - 1)) - 1;
    const int exponent = static_cast<int>(code >> mantissaBits) & ((1 << exponentBits) - 1);
    const double fraction =
        static_cast<double>(code & ((1u << mantissaBits) - 1)) / (1 << mantissaBits);
    const double sign = code & 0x8000u ? -1 : 1;
    if (exponent == (1 << exponentBits) - 1)
        return fraction == 0 ? sign * HUGE_VAL : static_cast<double>(NAN);
    return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias)
                         : sign * std::ldexp(1 + fraction, exponent - bias);
}

/// Rounds to a multiple of the last place, to nearest even, by the host's own arithmetic.
double rounded(double value, int mantissaBits, int exponentBits) {
    const int bias = (1 << (exponentBits - 1)) - 1;
    if (value == 0 || !std::isfinite(value))
        return value;
    const int exponent = std::max(std::ilogb(value), 1 - bias);
    const double result = std::ldexp(std::nearbyint(std::ldexp(value, mantissaBits - exponent)),
                                     exponent - mantissaBits);
    return std::fabs(result) >= std::ldexp(2.0, bias) ? std::copysign(HUGE_VAL, value) : result;
}

bool same(double a, double b) {
    return a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b);
}

struct HalfTraits {
    using Type = __half;
    static constexpr int mantissa = 10, exponent = 5;
    static Type code(unsigned short bits) { return __ushort_as_half(bits); }
    static unsigned short bits(Type value) { return __half_as_ushort(value); }
};
struct BrainTraits {
    using Type = __nv_bfloat16;
    static constexpr int mantissa = 7, exponent = 8;
    static Type code(unsigned short bits) { return __ushort_as_bfloat16(bits); }
    static unsigned short bits(Type value) { return __bfloat16_as_ushort(value); }
};

template <class Traits>
class NarrowFloat : public ::testing::Test {};
using Formats = ::testing::Types<HalfTraits, BrainTraits>;
TYPED_TEST_SUITE(NarrowFloat, Formats);

TYPED_TEST(NarrowFloat, EveryCodeMeansWhatTheFormatSaysAndComesBack) {
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const auto value = TypeParam::code(static_cast<unsigned short>(bits));
        const double expected = meaning(bits, TypeParam::mantissa, TypeParam::exponent);
        ASSERT_TRUE(same(static_cast<float>(value), expected)) << bits;
        if (!std::isnan(expected)) {
            const typename TypeParam::Type back(static_cast<float>(value));
            ASSERT_EQ(TypeParam::bits(back), bits);
        }
    }
}

TYPED_TEST(NarrowFloat, RoundsToNearestEvenBetweenAllNeighbours) {
    const unsigned infinity = ((1u << TypeParam::exponent) - 1) << TypeParam::mantissa;
    for (unsigned bits = 0; bits + 1 < infinity; ++bits) {
        const double low = meaning(bits, TypeParam::mantissa, TypeParam::exponent);
        const double high = meaning(bits + 1, TypeParam::mantissa, TypeParam::exponent);
        const double middle = low / 2 + high / 2;
        using Type = typename TypeParam::Type;
        ASSERT_EQ(TypeParam::bits(Type(middle)), bits % 2 ? bits + 1 : bits);
        ASSERT_EQ(TypeParam::bits(Type(std::nextafter(middle, high))), bits + 1)
            << "a double just above the middle";
        ASSERT_EQ(TypeParam::bits(Type(std::nextafter(middle, low))), bits)
            << "a double just below the middle";
        const float narrow = static_cast<float>(middle);
        ASSERT_EQ(TypeParam::bits(Type(-narrow)), (bits % 2 ? bits + 1 : bits) | 0x8000u);
    }
}

TYPED_TEST(NarrowFloat, ArithmeticRoundsTheExactResultOnce) {
    std::mt19937 engine(11);
    using Type = typename TypeParam::Type;
    for (int i = 0; i < 200000; ++i) {
        const Type a = TypeParam::code(static_cast<unsigned short>(engine()));
        const Type b = TypeParam::code(static_cast<unsigned short>(engine()));
        const double x = static_cast<float>(a), y = static_cast<float>(b);
        if (!std::isfinite(x) || !std::isfinite(y))
            continue;
        const auto wanted = [](double exact) {
            return rounded(exact, TypeParam::mantissa, TypeParam::exponent);
        };
        ASSERT_TRUE(same(static_cast<float>(a * b), wanted(x * y))) << x << " * " << y;
        if (std::fabs(std::ilogb(x) - std::ilogb(y)) < 30) { // the double sum is exact
            ASSERT_TRUE(same(static_cast<float>(a + b), wanted(x + y))) << x << " + " << y;
            ASSERT_TRUE(same(static_cast<float>(a - b), wanted(x - y))) << x << " - " << y;
        }
    }
}

TEST(Half, DirectedConversionsBracketTheValue) {
    const float third = 1.0f / 3.0f;
    EXPECT_LT(__half2float(__float2half_rd(third)), third);
    EXPECT_GT(__half2float(__float2half_ru(third)), third);
    EXPECT_EQ(__half_as_ushort(__float2half_rz(third)), __half_as_ushort(__float2half_rd(third)));
    EXPECT_EQ(__half_as_ushort(__float2half_rz(-third)), __half_as_ushort(__float2half_ru(-third)));
    EXPECT_EQ(__half_as_ushort(__float2half_rz(1e9f)), 0x7bffu) << "the largest finite number";
    EXPECT_EQ(__half_as_ushort(__float2half_ru(1e-20f)), 0x0001u);
    EXPECT_EQ(__half_as_ushort(__float2half_rd(-1e-20f)), 0x8001u);
}

TEST(Half, IntegersConvertWithSaturation) {
    EXPECT_EQ(__half2int_rn(__float2half(2.5f)), 2);
    EXPECT_EQ(__half2int_rz(__float2half(-2.75f)), -2);
    EXPECT_EQ(__half2ushort_rz(__float2half(-1.0f)), 0);
    EXPECT_EQ(__half2short_rn(__ushort_as_half(0x7c00)), 32767);
    EXPECT_EQ(__half_as_ushort(__int2half_rn(2049)), __half_as_ushort(__float2half(2048.0f)));
}

TEST(Half, PairsWorkLaneByLane) {
    const __half2 a = __floats2half2_rn(1.0f, -2.0f), b = __float2half2_rn(3.0f);
    const float2 sum = __half22float2(__hadd2(a, b)), fused = __half22float2(__hfma2(a, b, a));
    EXPECT_EQ(sum.x, 4.0f);
    EXPECT_EQ(sum.y, 1.0f);
    EXPECT_EQ(fused.x, 4.0f);
    EXPECT_EQ(fused.y, -8.0f);
    EXPECT_EQ(__low2float(__lowhigh2highlow(a)), -2.0f);
    EXPECT_TRUE(__hblt2(a, b));
    EXPECT_EQ(__hgt2_mask(a, __float2half2_rn(0.0f)), 0x0000ffffu);
}

TEST(Half, FusedMultiplyAddRoundsOnce) {
    // 1 + 2^-10 squared is 1 + 2^-9 + 2^-20: the last term decides the tie when c moves it there.
    const __half a = __ushort_as_half(0x3c01);
    const __half c = __float2half(std::ldexp(1.0f, -11));
    EXPECT_EQ(__half_as_ushort(__hfma(a, a, c)), 0x3c03u);
    EXPECT_EQ(__half_as_ushort(a * a + c), 0x3c02u);
}

} // namespace
