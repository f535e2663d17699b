#include "engine/replay/difference_tally.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace kernelskill::engine {
namespace {

template <typename T>
std::vector<std::byte> bytesOf(const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

template <typename T>
std::optional<MemoryDifference> compare(const std::vector<T>& found, const std::vector<T>& expected,
                                        const std::vector<T>& before,
                                        const std::vector<TypedRange>& elements) {
    DifferenceTally tally("the part", 0x1000, found.size() * sizeof(T), elements);
    tally.add(0, bytesOf(found), bytesOf(expected), bytesOf(before));
    return tally.result();
}

TEST(DifferenceTally, SaysNothingOfEqualMemory) {
    EXPECT_FALSE(compare<float>({1, 2}, {1, 2}, {0, 0}, {}));
}

TEST(DifferenceTally, CountsBytesAndThoseThatTheOriginalLeavesAlone) {
    const auto found = compare<std::uint8_t>({1, 9, 3, 9, 5, 6, 7, 8}, {1, 2, 3, 4, 5, 6, 7, 8},
                                             {0, 2, 0, 0, 0, 0, 0, 0}, {});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->where, "the part");
    EXPECT_EQ(found->firstOffset, 1u);
    EXPECT_EQ(found->differingBytes, 2u);
    EXPECT_EQ(found->strayBytes, 1u);
    EXPECT_EQ(found->element, MemoryElement::Bytes);
}

TEST(DifferenceTally, AnElementThatTheOriginalChangesIsNotLeftAlone) {
    // The lowest byte of 1 is 0, as before the launch; that of the next float is not.
    const float rounded = std::nextafter(1.0f, 2.0f);
    const std::vector<TypedRange> floats{{0x1000, 8, MemoryElement::Float32}};
    const auto found = compare<float>({rounded, 2}, {1, 2}, {0, 0}, floats);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->differingBytes, 1u);
    EXPECT_EQ(found->strayBytes, 0u);
    EXPECT_EQ(compare<float>({rounded, 2}, {1, 2}, {0, 0}, {})->strayBytes, 1u)
        << "of bytes it is not known what belongs together";
    const auto stray = compare<float>({1, rounded}, {1, 0}, {0, 0}, floats);
    ASSERT_TRUE(stray);
    EXPECT_EQ(stray->strayBytes, stray->differingBytes);
}

TEST(DifferenceTally, ComparesNumbersOfTheirType) {
    const auto single =
        compare<float>({1, 2.02f}, {1, 2}, {0, 0}, {{0x1000, 8, MemoryElement::Float32}});
    ASSERT_TRUE(single);
    EXPECT_EQ(single->element, MemoryElement::Float32);
    EXPECT_NEAR(single->maxRelative, 0.02 / 2.02, 1e-6);
    const auto twice =
        compare<double>({1, 3}, {1, 4}, {0, 0}, {{0x1000, 16, MemoryElement::Float64}});
    ASSERT_TRUE(twice);
    EXPECT_EQ(twice->maxRelative, 0.25);
    // 1.0 and 1.5 in binary16, and as bfloat16.
    const auto half = compare<std::uint16_t>({0x3c00, 0x3e00}, {0x3c00, 0x3c00}, {0, 0},
                                             {{0x1000, 4, MemoryElement::Float16}});
    ASSERT_TRUE(half);
    EXPECT_NEAR(half->maxRelative, 0.5 / 1.5, 1e-9);
    const auto brain = compare<std::uint16_t>({0x3f80, 0x3fc0}, {0x3f80, 0x3f80}, {0, 0},
                                              {{0x1000, 4, MemoryElement::BFloat16}});
    ASSERT_TRUE(brain);
    EXPECT_NEAR(brain->maxRelative, 0.5 / 1.5, 1e-9);
    // The smallest one of binary16, and none.
    const auto small =
        compare<std::uint16_t>({0x0001, 0}, {0, 0}, {0, 0}, {{0x1000, 4, MemoryElement::Float16}});
    ASSERT_TRUE(small);
    EXPECT_EQ(small->maxRelative, 1);
}

TEST(DifferenceTally, ComparesNumbersNearZeroAtTheScaleOfTheOthers) {
    const auto found = compare<float>({1'000, 1e-4f}, {1'000, -1e-4f}, {0, 0},
                                      {{0x1000, 8, MemoryElement::Float32}});
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->maxRelative, 2e-4 / (1'000 / std::sqrt(2.0)), 1e-12);
    constexpr float infinite = std::numeric_limits<float>::infinity();
    const auto besides = compare<float>({infinite, 1e-4f}, {infinite, -1e-4f}, {0, 0},
                                        {{0x1000, 8, MemoryElement::Float32}});
    ASSERT_TRUE(besides);
    EXPECT_EQ(besides->maxRelative, 2) << "what is not finite is no scale";
}

TEST(DifferenceTally, TakesWhatIsNoNumberForAnotherResult) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<TypedRange> floats{{0x1000, 8, MemoryElement::Float32}};
    const auto found = compare<float>({nan, 1}, {1, 1}, {0, 0}, floats);
    ASSERT_TRUE(found);
    EXPECT_TRUE(std::isinf(found->maxRelative));
    const auto signs = compare<float>({-0.0f, 1}, {0.0f, 1}, {0, 0}, floats);
    ASSERT_TRUE(signs) << "other bytes are a difference";
    EXPECT_EQ(signs->maxRelative, 0);
}

TEST(DifferenceTally, KnowsTheTypeOfEachPart) {
    const std::vector<TypedRange> elements{{0x1000, 16, MemoryElement::Float32},
                                           {0x1008, 8, MemoryElement::Float64}};
    const auto first = compare<float>({1, 3, 0, 0}, {1, 2, 0, 0}, {0, 0, 0, 0}, elements);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->element, MemoryElement::Float32);
    const auto last = compare<float>({1, 2, 0, 4}, {1, 2, 0, 2}, {0, 0, 0, 0}, elements);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->element, MemoryElement::Float64);
    const auto both = compare<float>({1, 3, 0, 4}, {1, 2, 0, 2}, {0, 0, 0, 0}, elements);
    ASSERT_TRUE(both);
    EXPECT_EQ(both->element, MemoryElement::Bytes) << "differences of two types are of none";
    const auto untyped =
        compare<float>({3, 4}, {1, 2}, {0, 0}, {{0x1004, 4, MemoryElement::Float32}});
    ASSERT_TRUE(untyped);
    EXPECT_EQ(untyped->element, MemoryElement::Bytes);
}

TEST(DifferenceTally, TakesNoPartOfAnElementForANumber) {
    const std::vector<TypedRange> doubles{{0x1000, 12, MemoryElement::Float64}};
    const auto found = compare<float>({1, 2, 3}, {1, 2, 4}, {0, 0, 0}, doubles);
    ASSERT_TRUE(found);
    EXPECT_TRUE(std::isinf(found->maxRelative));
}

TEST(DifferenceTally, AddsPieces) {
    DifferenceTally tally("the part", 0x1000, 1 << 20, {});
    const auto one = bytesOf<int>({1, 2});
    const auto other = bytesOf<int>({1, 3});
    tally.add(0x10000, other, one, one);
    tally.add(0x20000, other, one, other);
    ASSERT_TRUE(tally.result());
    EXPECT_EQ(tally.result()->firstOffset, 0x10004u);
    EXPECT_EQ(tally.result()->differingBytes, 2u);
    EXPECT_EQ(tally.result()->strayBytes, 1u);
    tally.leaveOut();
    EXPECT_TRUE(std::isinf(tally.result()->maxRelative));
}

} // namespace
} // namespace kernelskill::engine
