#include "engine/launch_durations/launch_durations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;

TEST(LaunchDurationsTest, TargetsAreReadAsTheyAreWritten) {
    const DurationTarget target{"/tmp/a b", "/usr/lib/libcupti.so", 7};
    const auto read = parseDurationTarget(formatDurationTarget(target));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->file, target.file);
    EXPECT_EQ(read->cupti, target.cupti);
    EXPECT_EQ(read->launches, target.launches);
    EXPECT_FALSE(parseDurationTarget("{}"));
}

TEST(LaunchDurationsTest, DurationsAreInTheOrderOfTheLaunches) {
    const auto read = parseDurations(durationHead() + durationLine("a", 2.5) +
                                         durationLine("b", 1) + durationLine("a", 0.5) +
                                         durationProblem("it launches graphs") + "{\"symbol\": \"b",
                                     "file");
    ASSERT_TRUE(read) << read.error().describe();
    EXPECT_THAT(read->bySymbol.at("a"), ElementsAre(2.5, 0.5));
    EXPECT_THAT(read->bySymbol.at("b"), ElementsAre(1)) << "the last line is incomplete";
    EXPECT_EQ(read->problem, "it launches graphs");
}

TEST(LaunchDurationsTest, OtherTextsAreRefused) {
    for (const std::string& text :
         {std::string(), std::string("{}\n"), std::string("no JSON\n"), durationHead() + "[]\n",
          durationHead() + durationLine("a", -1), durationHead() + "{\"symbol\": \"a\"}\n"}) {
        const auto read = parseDurations(text, "file");
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().kind, ErrorKind::InvalidInput) << text;
    }
    EXPECT_EQ(readDurations("/nonexistent").error().kind, ErrorKind::Missing);
}

} // namespace
} // namespace kernelskill::engine
