#include "engine/review/guessed_launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

LaunchSpec launchFrom(LaunchOrigin origin) {
    LaunchSpec launch;
    launch.origin = origin;
    launch.isShapeGuessed = origin == LaunchOrigin::Guessed;
    launch.kernel = "k";
    launch.grid = {4, 1, 1};
    launch.block = {32, 1, 1};
    return launch;
}

TEST(GuessedLaunch, TakesTheBlameOfAFailedCheck) {
    const CheckResult doubted = withoutBlameForGuess(incorrect("matches original", "x[3] is 1", {}),
                                                     launchFrom(LaunchOrigin::Guessed));
    ASSERT_FALSE(doubted);
    EXPECT_EQ(doubted.error().status, VerdictStatus::Invalid);
    EXPECT_FALSE(doubted.error().isAboutEdit);
    EXPECT_THAT(doubted.error().detail,
                AllOf(HasSubstr("x[3] is 1"), HasSubstr("guessed launch"),
                      HasSubstr("`// kernelskill: launch k<<<4, 32>>>()`")));
}

TEST(GuessedLaunch, IsNotNamedTwice) {
    const std::string detail = "a loop did not end with a guessed launch";
    const CheckResult doubted =
        withoutBlameForGuess(invalid("runs", detail, {}), launchFrom(LaunchOrigin::Guessed));
    ASSERT_FALSE(doubted);
    EXPECT_EQ(doubted.error().detail, detail);
    EXPECT_FALSE(doubted.error().isAboutEdit);
}

TEST(GuessedLaunch, LeavesWhatHolds) {
    EXPECT_TRUE(withoutBlameForGuess(held("runs"), launchFrom(LaunchOrigin::Guessed)));
}

TEST(GuessedLaunch, DoesNotExcuseAStatedOne) {
    for (const auto origin :
         {LaunchOrigin::Pinned, LaunchOrigin::Captured, LaunchOrigin::Evaluated}) {
        const CheckResult blamed =
            withoutBlameForGuess(incorrect("matches original", "", {}), launchFrom(origin));
        ASSERT_FALSE(blamed);
        EXPECT_EQ(blamed.error().status, VerdictStatus::Incorrect);
        EXPECT_TRUE(blamed.error().isAboutEdit);
    }
}

TEST(GuessedLaunch, DoesNotExcuseALaunchOfTheProgramAtAMadeUpSize) {
    LaunchSpec launch = launchFrom(LaunchOrigin::Guessed);
    launch.isShapeGuessed = false;
    const CheckResult blamed = withoutBlameForGuess(incorrect("matches original", "", {}), launch);
    ASSERT_FALSE(blamed);
    EXPECT_EQ(blamed.error().status, VerdictStatus::Incorrect);
}

} // namespace
} // namespace kernelskill::engine
