#include "engine/execution/emulator/worker/block_sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kernelskill::engine::emulator {
namespace {

using testing::Contains;
using testing::ElementsAre;

TEST(SampleBlocks, TakesAllOfASmallGrid) {
    EXPECT_THAT(sampleBlocks({3, 2, 1}, 6), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(SampleBlocks, HoldsTheCorners) {
    const auto blocks = sampleBlocks({100, 50, 4}, 20);
    EXPECT_EQ(blocks.size(), 20u);
    EXPECT_TRUE(std::is_sorted(blocks.begin(), blocks.end()));
    EXPECT_THAT(blocks, Contains(0));
    EXPECT_THAT(blocks, Contains(99));
    EXPECT_THAT(blocks, Contains(100 * 49));
    EXPECT_THAT(blocks, Contains(100 * 50 * 4 - 1));
}

TEST(SampleBlocks, PrefersTheFirstAndTheLastWhenOnlyTwoMayRun) {
    EXPECT_THAT(sampleBlocks({1000, 1, 1}, 2), ElementsAre(0, 999));
}

TEST(SampleBlocks, TakesAtLeastOne) {
    EXPECT_THAT(sampleBlocks({5, 1, 1}, 0), ElementsAre(0));
}

} // namespace
} // namespace kernelskill::engine::emulator
