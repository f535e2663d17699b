#include "kernelskill/atomics.h"
#include "kernelskill/integer_intrinsics.h"
#include "kernelskill/min_max.h"
#include "kernelskill/simd_intrinsics.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <random>

namespace {

/// Values at which bit tricks go wrong, and a few thousand others.
std::vector<std::uint32_t> words() {
    std::vector<std::uint32_t> all = {
        0u, 1u, 2u, 0x7fffffffu, 0x80000000u, 0xffffffffu, 0xfffffffeu, 0x00ff00ffu, 0x80808080u};
    std::mt19937 engine(7);
    for (int i = 0; i < 2000; ++i)
        all.push_back(static_cast<std::uint32_t>(engine()));
    return all;
}

TEST(IntegerIntrinsics, CountAndReverseBitsAsTheLoopOverThemDoes) {
    for (const std::uint32_t word : words()) {
        std::uint32_t reversed = 0;
        int ones = 0, leading = 32, first = 0;
        for (int i = 0; i < 32; ++i) {
            if (!(word >> i & 1))
                continue;
            reversed |= 1u << (31 - i);
            ++ones;
            leading = 31 - i;
            if (first == 0)
                first = i + 1;
        }
        EXPECT_EQ(__brev(word), reversed);
        EXPECT_EQ(__popc(word), ones);
        EXPECT_EQ(__clz(static_cast<int>(word)), leading);
        EXPECT_EQ(__ffs(static_cast<int>(word)), first);
        EXPECT_EQ(__brevll(word), static_cast<unsigned long long>(reversed) << 32);
    }
}

TEST(IntegerIntrinsics, PermuteBytesAndSpreadSigns) {
    EXPECT_EQ(__byte_perm(0x33221100u, 0x77665544u, 0x3210u), 0x33221100u);
    EXPECT_EQ(__byte_perm(0x33221100u, 0x77665544u, 0x0123u), 0x00112233u);
    EXPECT_EQ(__byte_perm(0x33221100u, 0x77665544u, 0x7654u), 0x77665544u);
    EXPECT_EQ(__byte_perm(0x33221100u, 0x77665544u, 0x6420u), 0x66442200u);
    EXPECT_EQ(__byte_perm(0x000000f0u, 0x0000000fu, 0x4c80u), 0x0f00fff0u);
}

TEST(IntegerIntrinsics, FunnelShiftsTakeTheShiftModulo32OrClampIt) {
    for (unsigned shift = 0; shift < 70; ++shift) {
        const std::uint64_t both = 0x89abcdef01234567ull;
        const auto high = static_cast<std::uint32_t>(both >> 32),
                   low = static_cast<std::uint32_t>(both);
        const unsigned wrapped = shift % 32, clamped = std::min(shift, 32u);
        EXPECT_EQ(__funnelshift_l(low, high, shift),
                  static_cast<std::uint32_t>((both << wrapped) >> 32));
        EXPECT_EQ(__funnelshift_r(low, high, shift), static_cast<std::uint32_t>(both >> wrapped));
        EXPECT_EQ(__funnelshift_lc(low, high, shift),
                  static_cast<std::uint32_t>((both << clamped) >> 32));
        EXPECT_EQ(__funnelshift_rc(low, high, shift), static_cast<std::uint32_t>(both >> clamped));
    }
}

TEST(IntegerIntrinsics, MultiplyHighAndNarrow) {
    EXPECT_EQ(__mulhi(INT_MIN, INT_MIN), 0x40000000);
    EXPECT_EQ(__mulhi(-1, 1), -1);
    EXPECT_EQ(__umulhi(0xffffffffu, 0xffffffffu), 0xfffffffeu);
    EXPECT_EQ(__umul64hi(~0ull, ~0ull), ~0ull - 1);
    EXPECT_EQ(__mul64hi(LLONG_MIN, 2), -1);
    EXPECT_EQ(__mul24(0x00ffffff, 2), -2) << "operands are signed in 24 bits";
    EXPECT_EQ(__umul24(0xffffffffu, 2u), 0x1fffffeu);
    EXPECT_EQ(__hadd(INT_MAX, INT_MAX), INT_MAX);
    EXPECT_EQ(__rhadd(-1, 0), 0);
    EXPECT_EQ(__sad(INT_MIN, INT_MAX, 1u), 0u);
}

TEST(IntegerIntrinsics, DotProductsOfBytesRespectTheSign) {
    EXPECT_EQ(__dp4a(static_cast<int>(0xff010203u), 0x01010101, 10), 10 - 1 + 1 + 2 + 3);
    EXPECT_EQ(__dp4a(0xff010203u, 0x01010101u, 10u), 10u + 255 + 1 + 2 + 3);
    EXPECT_EQ(__dp2a_lo(static_cast<int>(0xffff0002u), 0x04030201, 0), 2 * 1 - 1 * 2);
    EXPECT_EQ(__dp2a_hi(0x00010002u, 0x04030201u, 0u), 2u * 3 + 4);
}

TEST(IntegerIntrinsics, PackedLanesSaturateAndDoNotCarryIntoEachOther) {
    EXPECT_EQ(__vadd4(0xff01ff01u, 0x01010101u), 0x00020002u);
    EXPECT_EQ(__vaddus4(0xff01ff01u, 0x01010101u), 0xff02ff02u);
    EXPECT_EQ(__vaddss2(0x7fff8000u, 0x0001ffffu), 0x7fff8000u);
    EXPECT_EQ(__vabsdiffu4(0x00ff1020u, 0xff001010u), 0xffff0010u);
    EXPECT_EQ(__vsadu4(0x00ff1020u, 0xff001010u), 255u + 255 + 16);
    EXPECT_EQ(__vmaxs4(0x80017f00u, 0x00000000u), 0x00017f00u);
    EXPECT_EQ(__vcmpgtu2(0x80000001u, 0x7fff0001u), 0xffff0000u);
}

TEST(MinMax, MixedSignsCompareAsUnsignedAndNansLose) {
    EXPECT_EQ(min(-1, 5u), 5u);
    EXPECT_EQ(max(-1, 5u), 0xffffffffu);
    EXPECT_EQ(min(-1ll, 1ll), -1ll);
    EXPECT_EQ(max(1.0f, 2.0), 2.0);
    EXPECT_EQ(min(NAN, 3.0f), 3.0f);
    EXPECT_EQ(max(3.0f, NAN), 3.0f);
}

TEST(Atomics, ReturnTheOldValueAndStoreTheNew) {
    unsigned counter = 3;
    EXPECT_EQ(atomicInc(&counter, 3u), 3u);
    EXPECT_EQ(counter, 0u);
    EXPECT_EQ(atomicDec(&counter, 7u), 0u);
    EXPECT_EQ(counter, 7u);
    int value = INT_MAX;
    EXPECT_EQ(atomicAdd(&value, 1), INT_MAX);
    EXPECT_EQ(value, INT_MIN);
    float real = 1.5f;
    EXPECT_EQ(atomicAdd(&real, 2.0f), 1.5f);
    EXPECT_EQ(real, 3.5f);
    unsigned short narrow[2] = {1, 2};
    EXPECT_EQ(atomicCAS(&narrow[0], static_cast<unsigned short>(1), static_cast<unsigned short>(9)),
              1);
    EXPECT_EQ(narrow[0], 9);
    EXPECT_EQ(narrow[1], 2);
    unsigned long long wide = 5;
    EXPECT_EQ(atomicCAS_system(&wide, 4ull, 6ull), 5u);
    EXPECT_EQ(wide, 5u);
}

} // namespace
