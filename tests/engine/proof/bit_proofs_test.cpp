/// Edits of bits, shifts, quotients and remainders in indices are proved where they keep each
/// number, and no others.
#include "tests/engine/proof/proof_subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine {
namespace {

using ::testing::StartsWith;

std::string proofText(const std::string& before, const std::string& after) {
    return describe(proofOf(before, after));
}

const std::string tiles = R"(
__global__ void tiles(float* out, const float* in, int first, unsigned width) {
    unsigned t = threadIdx.x;
    unsigned row = t / 32;
    unsigned column = t % 32;
    out[column * width + row] = in[row * 32 + column];
}
)";

TEST(BitProofs, PutQuotientAndRemainderTogether) {
    EXPECT_THAT(proofText(tiles, replaced(tiles, "in[row * 32 + column]", "in[t]")),
                StartsWith("proved"));
    EXPECT_THAT(proofText(tiles, replaced(tiles, "in[row * 32 + column]", "in[t ^ 1]")),
                StartsWith("unproved"));
    EXPECT_THAT(proofText(tiles, replaced(tiles, "in[row * 32 + column]", "in[row * 16 + column]")),
                StartsWith("unproved"));
}

TEST(BitProofs, TakeMasksForSums) {
    EXPECT_THAT(proofText(tiles, replaced(tiles, "row * 32 + column", "(row << 5) | column")),
                StartsWith("proved"));
    EXPECT_THAT(proofText(tiles, replaced(tiles, "row * 32 + column", "(row << 5) ^ column")),
                StartsWith("proved"));
    EXPECT_THAT(proofText(tiles, replaced(tiles, "row * 32 + column", "(row << 4) | column")),
                StartsWith("unproved"));
    EXPECT_THAT(proofText(tiles, replaced(tiles, "t / 32", "(t & ~31u) >> 5")),
                StartsWith("proved"));
    EXPECT_THAT(proofText(tiles, replaced(tiles, "t / 32", "(t & ~15u) >> 5")),
                StartsWith("proved"));
    EXPECT_THAT(proofText(tiles, replaced(tiles, "t / 32", "(t & ~63u) >> 5")),
                StartsWith("unproved"));
}

const std::string cells = R"(
__global__ void cells(float* out, const float* in, int i, int size) {
    if (i + size < 3 || size > 3 || (size & (size - 1)) != 0 || size <= 0)
        return;
    out[i / 8] = in[i % 8];
}
)";

TEST(BitProofs, MaskNaturalNumbersAlone) {
    // The guard as a whole excludes negative numbers; no single condition of it does.
    EXPECT_THAT(proofText(cells, replaced(cells, "i % 8", "i & 7")), StartsWith("proved"));
    EXPECT_THAT(proofText(cells, replaced(cells, "i / 8", "i >> 3")), StartsWith("proved"));
    EXPECT_THAT(proofText(cells, replaced(cells, "i % 8", "i & 6")), StartsWith("unproved"));
    EXPECT_THAT(proofText(cells, replaced(cells, "i % 8", "i & 15")), StartsWith("unproved"));
    const std::string negative = replaced(cells, "i + size < 3", "i + size < 1");
    EXPECT_THAT(proofText(negative, replaced(negative, "i % 8", "i & 7")), StartsWith("unproved"));
    EXPECT_THAT(proofText(negative, replaced(negative, "i / 8", "i >> 3")), StartsWith("unproved"));
}

TEST(BitProofs, MaskByAPowerOfTwoThatTheCodeTests) {
    const std::string power = replaced(cells, "in[i % 8]", "in[i % size]");
    EXPECT_THAT(proofText(power, replaced(power, "i % size", "i & (size - 1)")),
                StartsWith("proved"));
    const std::string any = replaced(power, " || (size & (size - 1)) != 0", "");
    EXPECT_THAT(proofText(any, replaced(any, "i % size", "i & (size - 1)")),
                StartsWith("unproved"));
}

const std::string swizzled = R"(
__global__ void swizzled(float* out, const float* in) {
    __shared__ float tile[32 * 32];
    unsigned row = threadIdx.y;
    unsigned column = threadIdx.x;
    if (row >= 32 || column >= 32)
        return;
    tile[row * 32 + (column ^ (row % 32))] = in[row * 32 + column];
    __syncthreads();
    out[row * 32 + column] = tile[column * 32 + (row ^ column)];
}
)";

TEST(BitProofs, FollowSwizzledIndices) {
    // The exclusive or changes bits of the column only, so it may be applied to the whole index.
    EXPECT_THAT(proofText(swizzled, replaced(swizzled, "row * 32 + (column ^ (row % 32))",
                                             "(row * 32 + column) ^ row")),
                StartsWith("proved"));
    EXPECT_THAT(proofText(swizzled, replaced(swizzled, "(row ^ column)",
                                             "((row | column) - (row & column))")),
                StartsWith("proved"));
    EXPECT_THAT(proofText(swizzled, replaced(swizzled, "row * 32 + (column ^ (row % 32))",
                                             "(row * 32 + column) ^ (row << 1)")),
                StartsWith("unproved"));
    EXPECT_THAT(proofText(swizzled, replaced(swizzled, "(row ^ column)", "(row | column)")),
                StartsWith("unproved"));
}

TEST(BitProofs, RemoveATestThatBitsDecide) {
    const std::string tested = R"(
__global__ void tested(float* out, unsigned i) {
    unsigned low = i & 12;
    if (low < 13 && (low ^ 1) != low)
        out[low] = 1.0f;
}
)";
    EXPECT_THAT(
        proofText(tested, replaced(tested, "out[low] = 1.0f", "out[(i & 8) | (i & 4)] = 1.0f")),
        StartsWith("proved"));
    EXPECT_THAT(
        proofText(tested, replaced(tested, "out[low] = 1.0f", "out[(i & 8) | (i & 5)] = 1.0f")),
        StartsWith("unproved"));
}

TEST(BitProofs, MakeNoReadThatBitsDoNotExclude) {
    const std::string guarded = R"(
__global__ void guarded(float* out, const float* in, unsigned i) {
    if ((i & 3) == 0)
        out[i] = in[i];
}
)";
    EXPECT_THAT(proofText(guarded, replaced(guarded, "(i & 3) == 0", "i % 4 == 0")),
                StartsWith("proved"));
    EXPECT_THAT(proofText(guarded, replaced(guarded, "(i & 3) == 0", "((i >> 2) << 2) == i")),
                StartsWith("proved"));
    EXPECT_THAT(proofText(guarded, replaced(guarded, "(i & 3) == 0", "((i >> 1) << 1) == i")),
                StartsWith("unproved"));
}

TEST(BitProofs, KeepSignedNumbersApart) {
    const std::string halves = R"(
__global__ void halves(int* out, int i) {
    out[0] = i / 2;
    out[1] = i % 2;
    out[2] = i - i / 2 * 2;
}
)";
    EXPECT_THAT(proofText(halves, replaced(halves, "i - i / 2 * 2", "i % 2")),
                StartsWith("proved"));
    EXPECT_THAT(proofText(halves, replaced(halves, "out[0] = i / 2", "out[0] = i >> 1")),
                StartsWith("unproved"));
    EXPECT_THAT(proofText(halves, replaced(halves, "out[1] = i % 2", "out[1] = i & 1")),
                StartsWith("unproved"));
    // Adding one to a negative number overflows for none; adding it to any number may.
    EXPECT_THAT(proofText(halves, replaced(halves, "out[0] = i / 2",
                                           "out[0] = (i + (int)((unsigned)i >> 31)) >> 1")),
                StartsWith("proved"));
    EXPECT_THAT(proofText(halves, replaced(halves, "out[1] = i % 2", "out[1] = (i + 1) % 2")),
                StartsWith("unproved"));
}

} // namespace
} // namespace kernelskill::engine
