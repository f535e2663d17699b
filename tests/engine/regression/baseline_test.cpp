#include "analysis/source/json.h"
#include "engine/execution/metric_names.h"
#include "engine/regression/comparison_with_baseline.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CountedKernel kernelWith(Metrics counts) {
    CountedKernel kernel;
    kernel.file = "a.cu";
    kernel.kernel = "k";
    kernel.problem = "evaluated, n=1024";
    kernel.launch = "grid 4x1x1";
    kernel.counts = std::move(counts);
    return kernel;
}

CountChange changeOf(const CountedKernel& before, const CountedKernel& after) {
    return compareCounts(&before, &after, {}).change;
}

TEST(Regression, ACountThatRisesAloneIsCertain) {
    const char* sectors = metric::load.globalSectors;
    const char* conflicts = metric::load.sharedConflicts;
    const auto before = kernelWith({{sectors, 1000}, {conflicts, 100}});
    EXPECT_EQ(changeOf(before, before), CountChange::Same);
    EXPECT_EQ(changeOf(before, kernelWith({{sectors, 1010}, {conflicts, 99}})), CountChange::Same);
    EXPECT_EQ(changeOf(before, kernelWith({{sectors, 1011}, {conflicts, 100}})),
              CountChange::Worse);
    EXPECT_EQ(changeOf(before, kernelWith({{sectors, 1000}})), CountChange::Better);
    EXPECT_EQ(changeOf(before, kernelWith({{sectors, 1100}, {conflicts, 50}})), CountChange::Mixed);
    EXPECT_EQ(changeOf(kernelWith({}), before), CountChange::Worse);
    const auto change = compareCounts(&before, nullptr, {});
    EXPECT_EQ(change.change, CountChange::Removed);
    EXPECT_EQ(compareCounts(nullptr, &before, {}).change, CountChange::New);
}

TEST(Regression, TheModelDecidesWhereItsIntervalsAreApart) {
    auto before = kernelWith({{metric::load.globalSectors, 1000}, {metric::barriers, 10}});
    auto after = kernelWith({{metric::load.globalSectors, 32000}, {metric::barriers, 5}});
    before.seconds = Interval{1e-6, 3e-6};
    after.seconds = Interval{2e-6, 9e-5};
    EXPECT_EQ(changeOf(before, after), CountChange::Mixed);
    after.seconds->low = 4e-6;
    EXPECT_EQ(changeOf(before, after), CountChange::Worse);
}

TEST(Regression, HazardsAndFailuresAreCertain) {
    const auto before = kernelWith({});
    auto after = before;
    after.hazards = {"race"};
    after.problem = "another";
    const auto change = compareCounts(&before, &after, {});
    EXPECT_EQ(change.change, CountChange::Worse);
    EXPECT_EQ(change.reason, "it has a new hazard: race");
    EXPECT_EQ(changeOf(after, after), CountChange::Same);
    auto broken = before;
    broken.failure = "it does not compile";
    EXPECT_EQ(changeOf(before, broken), CountChange::Worse);
    EXPECT_EQ(changeOf(broken, broken), CountChange::NotRun);
    EXPECT_EQ(changeOf(broken, before), CountChange::Better);
}

TEST(Regression, OtherProblemsAndVersionsAreNotCompared) {
    const auto small = kernelWith({{metric::barriers, 1}});
    auto large = kernelWith({{metric::barriers, 100}});
    large.problem = "evaluated, n=4096";
    const auto change = compareCounts(&small, &large, {});
    EXPECT_EQ(change.change, CountChange::NotComparable);
    EXPECT_THAT(change.reason, HasSubstr("n=1024; now evaluated, n=4096"));
    const auto more = kernelWith({{metric::barriers, 100}});
    const auto changes = compareWithBaseline({"0.1", "H200", {small}}, {"0.2", "H200", {more}}, {});
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].change, CountChange::NotComparable);
    EXPECT_THAT(changes[0].reason, HasSubstr("version 0.1 counted before, version 0.2 now"));
}

TEST(Regression, AnotherLaunchOfTheSameProblemIsSaid) {
    auto before = kernelWith({{metric::barriers, 10}});
    auto after = kernelWith({{metric::barriers, 5}});
    after.launch = "grid 2x1x1";
    const auto change = compareCounts(&before, &after, {});
    EXPECT_EQ(change.change, CountChange::Better);
    EXPECT_EQ(change.reason, "its launch was grid 4x1x1; it is grid 2x1x1");
}

TEST(Baseline, AProfileIsCountedByItsProblem) {
    Profile profile;
    profile.kernel = "ns::k";
    profile.launch.origin = LaunchOrigin::Pinned;
    profile.launch.isShapeGuessed = false;
    profile.launch.block.x = 256;
    ScalarSpec n;
    n.name = "n";
    n.integer = 7;
    profile.launch.arguments = {BufferSpec{}, n};
    profile.metrics = {
        {metric::barriers, 3}, {metric::activeThreads, 31.5}, {metric::conversions, 0}};
    profile.hazards.resize(3);
    profile.hazards[2].certain = false;
    profile.hazards[2].kind = HazardKind::OutOfBounds;
    const auto counted = countedKernel(profile);
    EXPECT_EQ(counted.problem, "pinned, n=7");
    EXPECT_EQ(counted.launch, "grid 1x1x1, block 256x1x1, 0 bytes");
    EXPECT_EQ(counted.counts, (Metrics{{metric::barriers, 3}}));
    EXPECT_THAT(counted.hazards, ElementsAre("race"));
    profile.launch.isShapeGuessed = true;
    EXPECT_THAT(countedKernel(profile).hazards, ElementsAre());
}

TEST(Baseline, IsReadAsItWasWritten) {
    const kernelskill::testing::TemporaryFolder folder;
    const auto file = folder.path() / "b.json";
    auto first = kernelWith({{metric::barriers, 3.5}});
    first.hazards = {"misaligned", "race"};
    first.seconds = Interval{1e-6, 2e-6};
    CountedKernel second;
    second.file = "sub/b.cu";
    second.kernel = "broken";
    second.failure = "it hangs";
    std::ofstream(file) << baselineJson({"0.9", "A100", {first, second}}).dump(2);
    const auto read = readBaseline(file);
    ASSERT_TRUE(read) << read.error().describe();
    EXPECT_EQ(read->tool, "0.9");
    EXPECT_EQ(read->gpu, "A100");
    ASSERT_NE(read->find("a.cu", "k"), nullptr);
    EXPECT_EQ(compareCounts(&first, read->find("a.cu", "k"), {0}).change, CountChange::Same);
    EXPECT_EQ(read->find("a.cu", "k")->seconds, first.seconds);
    EXPECT_EQ(read->find("sub/b.cu", "broken")->failure, "it hangs");
    EXPECT_EQ(read->find("a.cu", "broken"), nullptr);
}

TEST(Baseline, OddFilesAreErrors) {
    const kernelskill::testing::TemporaryFolder folder;
    const auto file = folder.path() / "b.json";
    EXPECT_EQ(readBaseline(file).error().kind, ErrorKind::Missing);
    const std::string head = R"({"format": "kernelskill-baseline", "version": 1, "tool": "", )";
    for (
        const std::string& text :
        {std::string(), std::string("[]"), std::string("{}"), std::string(100'000, '['),
         std::string(R"({"format": "kernelskill-baseline", "version": 2})"),
         head + R"("gpu": "x"})", head + R"("gpu": "x", "kernels": [3]})",
         head + R"("gpu": "x", "kernels": [{"file": 1, "kernel": "k"}]})",
         head + R"("gpu": "x", "kernels": [{"file": "a", "kernel": "k", "counts": {"a": "b"}}]})",
         head +
             R"("gpu": "x", "kernels": [{"file": "a", "kernel": "k", "modelled_seconds": []}]})"}) {
        std::ofstream(file) << text;
        const auto read = readBaseline(file);
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().kind, ErrorKind::InvalidInput);
        EXPECT_THAT(read.error().remedy, HasSubstr("--update"));
    }
}

} // namespace
} // namespace kernelskill::engine
