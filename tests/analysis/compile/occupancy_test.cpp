#include "analysis/compile/occupancy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using enum OccupancyLimiter;

const MultiprocessorLimits hopper = *limitsOf({9, 0});

Occupancy on(const MultiprocessorLimits& limits, const BlockResources& block) {
    const auto occupancy = occupancyOf(block, limits);
    EXPECT_TRUE(occupancy) << occupancy.error().describe();
    return occupancy.value_or(Occupancy{});
}

TEST(Occupancy, IsFullWhereWarpsAreWhatRunsOut) {
    const auto occupancy = on(hopper, {256, 32, 0});
    EXPECT_EQ(occupancy.blocks, 8U);
    EXPECT_EQ(occupancy.warps, 64U);
    EXPECT_DOUBLE_EQ(occupancy.percent, 100);
    // 32 registers a thread use up the file exactly when the warps do.
    EXPECT_THAT(occupancy.limiters, ElementsAre(Registers, Warps));
    EXPECT_FALSE(occupancy.fewerRegisters);
    EXPECT_FALSE(occupancy.fewerSharedBytes);
}

TEST(Occupancy, NamesTheRegistersThatStandBetweenItAndTheNextBlock) {
    // 40 registers: 1280 a warp, 12 warps a partition, 48 a multiprocessor, 6 blocks of 8 warps.
    const auto occupancy = on(hopper, {256, 40, 0});
    EXPECT_EQ(occupancy.blocks, 6U);
    EXPECT_DOUBLE_EQ(occupancy.percent, 75);
    EXPECT_THAT(occupancy.limiters, ElementsAre(Registers));
    ASSERT_TRUE(occupancy.fewerRegisters);
    // A warp gets registers by 8 a thread: 39 to 33 are stored as 40.
    EXPECT_EQ(occupancy.fewerRegisters->fewer, 8U);
    EXPECT_EQ(occupancy.fewerRegisters->blocks, 8U);
    EXPECT_DOUBLE_EQ(occupancy.fewerRegisters->percent, 100);
}

TEST(Occupancy, OneRegisterTooManyIsSaid) {
    const auto occupancy = on(hopper, {256, 65, 0});
    EXPECT_EQ(occupancy.blocks, 3U);
    ASSERT_TRUE(occupancy.fewerRegisters);
    EXPECT_EQ(occupancy.fewerRegisters->fewer, 1U);
    EXPECT_EQ(occupancy.fewerRegisters->blocks, 4U);
}

TEST(Occupancy, CountsTheReservedKilobyteOfSharedMemory) {
    // Four blocks of 56 KB fill 224 KB; with a kilobyte each 228 KB, which is all there is.
    const auto occupancy = on(hopper, {128, 32, 56 * 1024});
    EXPECT_EQ(occupancy.blocks, 4U);
    EXPECT_THAT(occupancy.limiters, ElementsAre(SharedMemory));
    const auto oneMore = on(hopper, {128, 32, 56 * 1024 + 1});
    EXPECT_EQ(oneMore.blocks, 3U);
    ASSERT_TRUE(oneMore.fewerSharedBytes);
    EXPECT_EQ(oneMore.fewerSharedBytes->fewer, 1U);
    EXPECT_EQ(oneMore.fewerSharedBytes->blocks, 4U);
    // Turing reserves nothing.
    EXPECT_EQ(on(*limitsOf({7, 5}), {128, 32, 16 * 1024}).blocks, 4U);
}

TEST(Occupancy, OffersNoStepThatAnotherLimitTakesBack) {
    // 64 registers and 24 KB: both allow 4 blocks of 512 threads or fewer.
    const auto occupancy = on(*limitsOf({8, 0}), {512, 64, 80 * 1024});
    EXPECT_EQ(occupancy.blocks, 2U);
    EXPECT_THAT(occupancy.limiters, ElementsAre(Registers, SharedMemory));
    EXPECT_FALSE(occupancy.fewerRegisters);
    EXPECT_FALSE(occupancy.fewerSharedBytes);
}

TEST(Occupancy, SmallBlocksRunOutOfBlockSlots) {
    const auto occupancy = on(*limitsOf({8, 6}), {32, 16, 0});
    EXPECT_EQ(occupancy.blocks, 16U);
    EXPECT_THAT(occupancy.limiters, ElementsAre(Blocks));
    EXPECT_NEAR(occupancy.percent, 33.3, 0.1);
}

TEST(Occupancy, WithoutRegistersIsWhatTheRestAllows) {
    const auto occupancy = on(hopper, {1024, std::nullopt, 0});
    EXPECT_EQ(occupancy.blocks, 2U);
    EXPECT_THAT(occupancy.limiters, ElementsAre(Warps));
    EXPECT_FALSE(occupancy.fewerRegisters);
}

TEST(Occupancy, RefusesWhatCannotBeLaunched) {
    for (const BlockResources& block :
         {BlockResources{0, 32, 0}, BlockResources{1025, 32, 0}, BlockResources{1024, 128, 0},
          BlockResources{32, 256, 0}, BlockResources{32, 32, 227 * 1024 + 1}}) {
        const auto occupancy = occupancyOf(block, hopper);
        ASSERT_FALSE(occupancy);
        EXPECT_EQ(occupancy.error().kind, ErrorKind::InvalidInput);
        EXPECT_THAT(occupancy.error().what, HasSubstr("cannot be launched on sm_90"));
    }
}

} // namespace
} // namespace kernelskill::analysis
