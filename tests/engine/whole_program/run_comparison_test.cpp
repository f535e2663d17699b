#include "engine/whole_program/run_comparison.h"

#include <gmock/gmock.h>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Runs = std::vector<LaunchTimes>;

/// `count` runs in which a kernel takes about `microseconds`, once each: values differ by 0.4 %, in
/// an order that begins at `first`.
Runs runsOf(std::size_t count, double microseconds, std::size_t first = 0) {
    Runs runs;
    for (std::size_t i = 0; i < count; ++i)
        runs.push_back(
            {{"k", {microseconds * (1 + 0.001 * static_cast<double>((i + first) % 5))}}});
    return runs;
}

TimeChange changeOf(const Runs& before, const Runs& after) {
    const auto changes = compareRuns(before, after);
    EXPECT_EQ(changes.size(), 1u);
    return changes.front().change;
}

TEST(RunComparison, ADifferenceBeyondTheNoiseIsCertain) {
    EXPECT_EQ(changeOf(runsOf(16, 100), runsOf(16, 50)), TimeChange::Faster);
    EXPECT_EQ(changeOf(runsOf(16, 50), runsOf(16, 100)), TimeChange::Slower);
    EXPECT_EQ(changeOf(runsOf(16, 100), runsOf(16, 100)), TimeChange::Same);
    EXPECT_EQ(changeOf(runsOf(16, 100), runsOf(16, 98.5)), TimeChange::Same)
        << "two runs may differ by as much";
    EXPECT_EQ(changeOf(runsOf(16, 100), runsOf(16, 98, 2)), TimeChange::Unsure)
        << "the interval holds the limit";
    const auto faster = compareRuns(runsOf(16, 100), runsOf(16, 50)).front();
    EXPECT_NEAR(faster.speedup, 2, 0.01);
    EXPECT_NEAR(faster.before, 100.2, 0.3);
    EXPECT_NEAR(faster.after, 50.1, 0.2);
}

TEST(RunComparison, FewLaunchesAreNotCertain) {
    const auto change = compareRuns(runsOf(15, 100), runsOf(40, 10)).front();
    EXPECT_EQ(change.change, TimeChange::Unsure);
    EXPECT_THAT(change.reason, HasSubstr("15 launches are compared; from 16 on"));
    EXPECT_THAT(compareRuns(runsOf(1, 100), runsOf(1, 10)).front().reason,
                HasSubstr("1 launch is compared"));
}

TEST(RunComparison, LaunchesOfARunCountEach) {
    const Runs before{{{"k", std::vector<double>(16, 8.0)}}};
    const Runs after{{{"k", std::vector<double>(16, 4.0)}}};
    EXPECT_EQ(changeOf(before, after), TimeChange::Faster);
}

TEST(RunComparison, RunsOfOneVersionHaveToDifferLess) {
    const auto run = [](double microseconds) {
        return LaunchTimes{{"k", std::vector<double>(16, microseconds)}};
    };
    // The GPU was slow in one run of three: most pairs of launches say faster.
    const auto change =
        compareRuns(Runs{run(100), run(100), run(90)}, Runs{run(91), run(91), run(80)}).front();
    EXPECT_GT(change.least, 1.02);
    EXPECT_EQ(change.change, TimeChange::Unsure);
    EXPECT_EQ(change.reason, "runs of one version differ by as much");
    EXPECT_EQ(changeOf(Runs{run(100), run(100), run(92)}, Runs{run(91), run(91), run(80)}),
              TimeChange::Faster);
}

TEST(RunComparison, OtherNumbersOfLaunchesAreComparedByTheirSums) {
    const Runs before(16, {{"k", {5.0, 5.0}}});
    const Runs after(16, {{"k", {3.0, 3.0, 3.0}}});
    const auto change = compareRuns(before, after).front();
    EXPECT_EQ(change.change, TimeChange::Faster);
    EXPECT_DOUBLE_EQ(change.before, 10);
    EXPECT_DOUBLE_EQ(change.after, 9);
    const auto once = compareRuns(Runs(1, before.front()), Runs(1, after.front())).front();
    EXPECT_EQ(once.change, TimeChange::Unsure);
    EXPECT_THAT(once.reason, HasSubstr("1 run is compared"));
}

TEST(RunComparison, KernelsOfOneSideAreNewOrGone) {
    const Runs before{{{"old", {7.0}}, {"both", {1.0}}}};
    const Runs after{{{"both", {1.0}}, {"added", {9.0}}}};
    const auto changes = compareRuns(before, after);
    std::vector<std::string> names;
    std::vector<TimeChange> what;
    for (const KernelTimeChange& change : changes) {
        names.push_back(change.kernel);
        what.push_back(change.change);
    }
    EXPECT_THAT(names, ElementsAre("added", "both", "old"));
    EXPECT_THAT(what, ElementsAre(TimeChange::New, TimeChange::Unsure, TimeChange::Gone));
    EXPECT_DOUBLE_EQ(changes.back().before, 7);
}

TEST(RunComparison, EnoughIsWhatMakesHotKernelsCertain) {
    EXPECT_FALSE(isEnough(runsOf(15, 100)));
    EXPECT_TRUE(isEnough(runsOf(16, 100)));
    const LaunchTimes often{{"hot", std::vector<double>(16, 100.0)}, {"cold", {1.0}}};
    EXPECT_TRUE(isEnough(Runs(3, often))) << "a kernel that hardly counts is not waited for";
    EXPECT_FALSE(isEnough(Runs(2, often))) << "two runs do not tell how runs differ";
}

TEST(RunComparison, InstantiationsAreOneKernel) {
    std::vector<DeviceActivity> activities(4);
    activities[0].name = "_Z3sumIfEvPT_";
    activities[1].name = "_Z3sumIdEvPT_";
    activities[2].kind = ActivityKind::Copy;
    activities[3].name = "_Z3sumIfEvPT_";
    for (std::size_t i = 0; i < activities.size(); ++i)
        activities[i].end = 1000 * i;
    EXPECT_EQ(launchTimesOf(activities), (LaunchTimes{{"sum", {0.001, 1, 3}}}))
        << "no launch takes no time";
}

} // namespace
} // namespace kernelskill::engine
