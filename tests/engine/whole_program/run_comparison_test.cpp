#include "engine/whole_program/run_comparison.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Runs = std::vector<LaunchTimes>;

KernelLaunches launches(std::vector<double> microseconds) {
    return launchesWith(std::move(microseconds));
}

/// `count` runs in which a kernel takes about `microseconds`, once each: values differ by 0.4 %, in
/// an order that begins at `first`.
Runs runsOf(std::size_t count, double microseconds, std::size_t first = 0) {
    Runs runs;
    for (std::size_t i = 0; i < count; ++i)
        runs.push_back(
            {{"k", launches({microseconds * (1 + 0.001 * static_cast<double>((i + first) % 5))})}});
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
    const Runs before{{{"k", launches(std::vector<double>(16, 8.0))}}};
    const Runs after{{{"k", launches(std::vector<double>(16, 4.0))}}};
    EXPECT_EQ(changeOf(before, after), TimeChange::Faster);
}

TEST(RunComparison, RunsOfOneVersionHaveToDifferLess) {
    const auto run = [](double microseconds) {
        return LaunchTimes{{"k", launches(std::vector<double>(16, microseconds))}};
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
    const Runs before(16, {{"k", launches({5.0, 5.0})}});
    const Runs after(16, {{"k", launches({3.0, 3.0, 3.0})}});
    const auto change = compareRuns(before, after).front();
    EXPECT_EQ(change.change, TimeChange::Faster);
    EXPECT_DOUBLE_EQ(change.before, 10);
    EXPECT_DOUBLE_EQ(change.after, 9);
    const auto once = compareRuns(Runs(1, before.front()), Runs(1, after.front())).front();
    EXPECT_EQ(once.change, TimeChange::Unsure);
    EXPECT_THAT(once.reason, HasSubstr("1 run is compared"));
}

TEST(RunComparison, KernelsOfOneSideAreNewOrGone) {
    const Runs before{{{"old", launches({7.0})}, {"both", launches({1.0})}}};
    const Runs after{{{"both", launches({1.0})}, {"added", launches({9.0})}}};
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
    const LaunchTimes often{{"hot", launches(std::vector<double>(16, 100.0))},
                            {"cold", launches({1.0})}};
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
    EXPECT_EQ(launchTimesOf(activities), (LaunchTimes{{"sum", launches({0.001, 1, 3})}}))
        << "no launch takes no time";
}

TEST(RunComparison, OfManyLaunchesSomeAreKept) {
    std::vector<double> all;
    for (int i = 0; i < 1000; ++i)
        all.push_back(i % 2 == 0 ? 10 + i : 2000 + i);
    const auto kept = launches(all);
    EXPECT_EQ(kept.count, 1000u);
    EXPECT_DOUBLE_EQ(kept.total, std::accumulate(all.begin(), all.end(), 0.0));
    ASSERT_EQ(kept.times.size(), maxKeptLaunches);
    const auto isShort = [](double time) { return time < 2000; };
    const auto shorts = std::ranges::count_if(kept.times, isShort);
    EXPECT_GT(shorts, 20) << "of those that take turns both kinds are kept";
    EXPECT_LT(shorts, 44);
    std::vector<double> order;
    for (const double time : kept.times)
        order.push_back(time < 2000 ? time - 10 : time - 2000);
    EXPECT_TRUE(std::ranges::is_sorted(order, std::ranges::less_equal{}));
    EXPECT_LT(order.front(), 1000.0 / maxKeptLaunches);
    EXPECT_GE(order.back(), 1000 - 1000.0 / maxKeptLaunches);
    EXPECT_EQ(launches(std::vector<double>(64, 1.0)).times.size(), 64u);
    EXPECT_EQ(launches(std::vector<double>(65, 1.0)).times.size(), 64u);
}

TEST(RunComparison, SumsAreOfAllLaunches) {
    const Runs before(16, {{"k", launches(std::vector<double>(1000, 5.0))}});
    const Runs after(16, {{"k", launches(std::vector<double>(1200, 5.0))}});
    const auto change = compareRuns(before, after).front();
    EXPECT_EQ(change.change, TimeChange::Slower);
    EXPECT_DOUBLE_EQ(change.before, 5000);
    EXPECT_DOUBLE_EQ(change.after, 6000);
}

} // namespace
} // namespace kernelskill::engine
