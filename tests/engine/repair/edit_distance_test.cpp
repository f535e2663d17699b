#include "engine/repair/compile_fixes/edit_distance.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

TEST(EditDistance, CountsChangesInHalfUnits) {
    EXPECT_EQ(editDistance("abc", "abc", 10), 0u);
    EXPECT_EQ(editDistance("abc", "abd", 10), 2u);
    EXPECT_EQ(editDistance("abc", "abcd", 10), 2u);
    EXPECT_EQ(editDistance("abcd", "abc", 10), 2u);
    EXPECT_EQ(editDistance("", "ab", 10), 4u);
}

TEST(EditDistance, ASwapIsOneSlipAndACaseIsHalfOne) {
    EXPECT_EQ(editDistance("flaot", "float", 10), 2u);
    EXPECT_EQ(editDistance("threadidx", "threadIdx", 10), 1u);
    EXPECT_EQ(editDistance("X", "x", 10), 1u);
}

TEST(EditDistance, StopsAtTheLimit) {
    EXPECT_EQ(editDistance("abcdef", "uvwxyz", 5), 5u);
    EXPECT_EQ(editDistance("a", "abcdefgh", 6), 6u);
}

} // namespace
} // namespace kernelskill::engine
