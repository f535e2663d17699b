#include "engine/whole_program/program_profile.h"
#include "tests/engine/program/program_folder.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kernelskill::engine {
namespace {

DeviceActivity activity(ActivityKind kind, std::string name, std::uint64_t begin,
                        std::uint64_t end) {
    DeviceActivity made;
    made.kind = kind;
    made.name = std::move(name);
    made.begin = begin;
    made.end = end;
    return made;
}

TEST(ProgramProfile, SharesAreOfAllWorkOfTheGpu) {
    const testing::ProgramFolder folder;
    folder.write("k.cu", "\n__global__ void k(float* x) { x[0] = 0; }\n");
    const std::vector<DeviceActivity> activities{
        activity(ActivityKind::Copy, "HtoD", 0, 100), activity(ActivityKind::Set, "", 100, 200),
        activity(ActivityKind::Kernel, "_Z1kPf", 300, 800),
        activity(ActivityKind::Kernel, "_Z1kPf", 800, 900),
        activity(ActivityKind::Kernel, "_Z5otherv", 1000, 1200)};
    const auto profile =
        programProfile(summaryOf(activities), KernelPlaces(*listTree(folder.path(), {}), {}), "");
    EXPECT_EQ(summaryOf(activities).gpuTime(), 1000u);
    ASSERT_EQ(profile.kernels.size(), 2u);
    const KernelShare& first = profile.kernels.front();
    EXPECT_EQ(first.times.symbol, "_Z1kPf");
    EXPECT_DOUBLE_EQ(first.share, 0.6);
    EXPECT_DOUBLE_EQ(first.gainAtMost(), 2.5);
    EXPECT_DOUBLE_EQ(first.shareOfKernels, 0.75);
    EXPECT_EQ(first.place, (KernelDefinition{"k.cu", 1, "k"}));
    EXPECT_EQ(profile.kernels.back().place, std::nullopt);
    EXPECT_EQ(profile.devices.front().idle(), 200u);
    EXPECT_EQ(profile.devices.front().sets, 100u);
}

TEST(ProgramProfile, CopiesDoNotMakeKernelsCold) {
    const std::vector<DeviceActivity> activities{
        activity(ActivityKind::Copy, "HtoD", 0, 100'000),
        activity(ActivityKind::Kernel, "_Z3hotv", 100'000, 100'096),
        activity(ActivityKind::Kernel, "_Z4coldv", 100'096, 100'100)};
    const auto profile = programProfile(summaryOf(activities), KernelPlaces({}, {}), "");
    ASSERT_EQ(profile.kernels.size(), 2u);
    EXPECT_LT(profile.kernels.front().share, hotShare);
    EXPECT_TRUE(profile.kernels.front().isHot());
    EXPECT_FALSE(profile.kernels.back().isHot());
}

TEST(ProgramProfile, AKernelThatIsAllOfTheTimeHasNoBound) {
    const std::vector<DeviceActivity> activities{activity(ActivityKind::Kernel, "_Z1kPf", 0, 100)};
    const auto profile = programProfile(summaryOf(activities), KernelPlaces({}, {}), "");
    EXPECT_TRUE(std::isinf(profile.kernels.front().gainAtMost()));
    EXPECT_EQ(TimelineSummary{}.gpuTime(), 0u);
}

} // namespace
} // namespace kernelskill::engine
