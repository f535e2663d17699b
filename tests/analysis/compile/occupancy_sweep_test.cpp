#include "analysis/compile/occupancy_sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kernelskill::analysis {
namespace {

MultiprocessorLimits hopper() {
    return *limitsOf({9, 0});
}

TEST(OccupancySweep, OverBlockSizesIsWhatEachSizeHas) {
    const BlockResources block{256, 32, 4096};
    const auto points = occupancySweep(block, hopper(), BlockResource::Threads);
    ASSERT_GE(points.size(), 10U);
    EXPECT_EQ(points.front().value, 32U);
    EXPECT_EQ(points.back().value, 1024U);
    for (const OccupancyPoint& point : points) {
        BlockResources other = block;
        other.threads = static_cast<std::uint32_t>(point.value);
        const auto occupancy = occupancyOf(other, hopper());
        ASSERT_TRUE(occupancy);
        EXPECT_EQ(point.percent, occupancy->percent) << point.value;
        EXPECT_EQ(point.isCurrent, point.value == 256) << point.value;
    }
    // 32 blocks of one warp are half of 64 warps.
    EXPECT_DOUBLE_EQ(points.front().percent, 50);
}

TEST(OccupancySweep, OverRegistersHasEachStepOnce) {
    const auto points = occupancySweep({256, 40, 0}, hopper(), BlockResource::Registers);
    ASSERT_FALSE(points.empty());
    EXPECT_TRUE(std::ranges::is_sorted(points, std::ranges::less{}, &OccupancyPoint::value));
    EXPECT_TRUE(std::ranges::is_sorted(points, std::ranges::greater{}, &OccupancyPoint::percent));
    EXPECT_EQ(std::ranges::count(points, true, &OccupancyPoint::isCurrent), 1);
    // Eight blocks of 256 threads fit with up to 32 registers.
    const auto full = std::ranges::find(points, 32U, &OccupancyPoint::value);
    ASSERT_NE(full, points.end());
    EXPECT_DOUBLE_EQ(full->percent, 100);
}

TEST(OccupancySweep, OverSharedMemoryEndsWithTheLargestBlock) {
    const auto points = occupancySweep({128, 32, 1000}, hopper(), BlockResource::SharedBytes);
    ASSERT_GE(points.size(), 3U);
    EXPECT_EQ(points.back().value, hopper().sharedBytesPerBlock);
    EXPECT_EQ(points.back().blocks, 1U);
    EXPECT_TRUE(std::ranges::any_of(points, [](const OccupancyPoint& point) {
        return point.isCurrent && point.value == 1000;
    }));
}

TEST(OccupancySweep, WithoutKnownRegistersHasNoneOfThem) {
    EXPECT_TRUE(occupancySweep({128, std::nullopt, 0}, hopper(), BlockResource::Registers).empty());
}

TEST(OccupancySweep, SaysWhereABlockCannotBeLaunched) {
    const auto points = occupancySweep({1024, 255, 0}, hopper(), BlockResource::Threads);
    EXPECT_EQ(points.back().blocks, 0U);
    EXPECT_EQ(points.back().percent, 0);
}

} // namespace
} // namespace kernelskill::analysis
