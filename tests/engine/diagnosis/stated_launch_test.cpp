#include "engine/diagnosis/stated_launch.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

LaunchSpec launchOf(std::uint32_t blocks, LaunchOrigin origin = LaunchOrigin::Evaluated) {
    LaunchSpec launch;
    launch.origin = origin;
    launch.grid = {blocks, 1, 1};
    launch.block = {128, 1, 1};
    return launch;
}

TEST(StatedLaunch, IsTheLargestThatTheTextTells) {
    const std::vector<LaunchSpec> launches{launchOf(1), launchOf(40), launchOf(7)};
    EXPECT_EQ(statedLaunch(launches), &launches[1]);
    EXPECT_EQ(statedLaunch({}), nullptr);
}

TEST(StatedLaunch, IsNoneWhereTheTextTellsSomeOnly) {
    EXPECT_EQ(statedLaunch({launchOf(1), launchOf(40, LaunchOrigin::Guessed)}), nullptr);
}

TEST(StatedLaunch, IsWhatTheUserGaveOrTheBestGuess) {
    for (const LaunchOrigin origin :
         {LaunchOrigin::Pinned, LaunchOrigin::Captured, LaunchOrigin::Guessed}) {
        const std::vector<LaunchSpec> launches{launchOf(2, origin), launchOf(40)};
        EXPECT_EQ(statedLaunch(launches), &launches[0]);
    }
}

} // namespace
} // namespace kernelskill::engine
