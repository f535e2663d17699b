#include "engine/diagnosis/measured_roofline.h"
#include "engine/execution/metric_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

const DeviceCeilings h200{"NVIDIA H200", 4e12, 60e12, 30e12};

Profile measuredProfile() {
    Profile profile;
    profile.metrics = {{metric::medianTime, 100e3},
                       {"dram__bytes_read.sum", 250e6},
                       {"dram__bytes_write.sum", 50e6},
                       {metric::floatingOperations, 3e9},
                       {metric::single.fused, 1.5e9}};
    return profile;
}

TEST(MeasuredRoofline, IsThePartOfEachCeiling) {
    const auto roofline = measuredRooflineOf(measuredProfile(), h200);
    ASSERT_TRUE(roofline);
    EXPECT_DOUBLE_EQ(roofline->microseconds, 100);
    EXPECT_DOUBLE_EQ(roofline->bytesPerSecond, 3e12);
    EXPECT_DOUBLE_EQ(roofline->memoryPercent, 75);
    EXPECT_DOUBLE_EQ(*roofline->operationsPerSecond, 30e12);
    EXPECT_DOUBLE_EQ(*roofline->computePercent, 50);
    EXPECT_DOUBLE_EQ(*roofline->intensity, 10);
    EXPECT_DOUBLE_EQ(roofline->percent(), 75);
    EXPECT_THAT(describe(*roofline), HasSubstr("75 % of what this NVIDIA H200 moves at best"));
    EXPECT_THAT(describe(*roofline), HasSubstr("30 TFLOP/s, 50 %"));
}

TEST(MeasuredRoofline, TakesTheCeilingOfTheKernelsPrecision) {
    auto profile = measuredProfile();
    profile.metrics.erase(metric::single.fused);
    profile.metrics[metric::dbl.fused] = 1.5e9;
    EXPECT_DOUBLE_EQ(*measuredRooflineOf(profile, h200)->computePercent, 100);
}

TEST(MeasuredRoofline, SaysNothingOfOperationsThatNobodyCounted) {
    auto profile = measuredProfile();
    profile.metrics.erase(metric::floatingOperations);
    const auto roofline = measuredRooflineOf(profile, h200);
    ASSERT_TRUE(roofline);
    EXPECT_FALSE(roofline->operationsPerSecond);
    EXPECT_DOUBLE_EQ(roofline->percent(), 75);
    EXPECT_THAT(describe(*roofline), ::testing::Not(HasSubstr("FLOP")));
}

TEST(MeasuredRoofline, NeedsATimeAndTraffic) {
    for (const char* missing : {metric::medianTime, "dram__bytes_read.sum"}) {
        auto profile = measuredProfile();
        profile.metrics.erase(missing);
        EXPECT_FALSE(measuredRooflineOf(profile, h200)) << missing;
    }
    EXPECT_FALSE(measuredRooflineOf(measuredProfile(), {}));
}

} // namespace
} // namespace kernelskill::engine
