// The recorder of launch durations in a program, on a stand-in of driver and CUPTI
// (tests/engine/capture/fake_gpu), where a launch takes 10 ns a thread.
#include "engine/launch_durations/launch_durations.h"
#include "tests/engine/capture/fake_program.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class DurationRecorderTest : public ::testing::Test {
protected:
    DurationRecorderTest() { target_.file = (folder_.path() / "durations").string(); }

    [[nodiscard]] LaunchDurations measure(const std::string& words) const {
        const std::string recorded = testing::outputOfFakeProgram(
            words, testing::withRecorder("libkernelskill-durations.so", durationVariable,
                                         formatDurationTarget(target_)));
        EXPECT_EQ(recorded, testing::outputOfFakeProgram(words));
        auto durations = readDurations(target_.file);
        EXPECT_TRUE(durations) << durations.error().describe();
        return durations.value_or(LaunchDurations());
    }
    static std::string times(int count, const std::string& word) {
        std::string words;
        for (int i = 0; i < count; ++i)
            words += word + " ";
        return words;
    }

    static constexpr const char* saxpy = "_Z5saxpyfPKfPfi";
    static constexpr double saxpyTime = 4 * 256 * 10 / 1000.0; ///< Of its four blocks.
    ::kernelskill::testing::TemporaryFolder folder_;
    DurationTarget target_;
};

TEST_F(DurationRecorderTest, MeasuresEachLaunch) {
    const auto durations = measure("launch empty launch");
    EXPECT_THAT(durations.bySymbol.at(saxpy), SizeIs(2));
    EXPECT_THAT(durations.bySymbol.at(saxpy), Each(saxpyTime));
    EXPECT_THAT(durations.bySymbol.at("empty"), Each(0.32));
    EXPECT_EQ(durations.problem, "");
}

TEST_F(DurationRecorderTest, MeasuresInBatches) {
    const auto durations = measure(times(600, "launch") + "empty");
    EXPECT_THAT(durations.bySymbol.at(saxpy), SizeIs(600));
    EXPECT_THAT(durations.bySymbol.at(saxpy), Each(saxpyTime));
    EXPECT_THAT(durations.bySymbol.at("empty"), Each(0.32));
}

TEST_F(DurationRecorderTest, EndsAtTheLimit) {
    target_.launches = 3;
    const auto durations = measure(times(5, "launch"));
    EXPECT_THAT(durations.bySymbol.at(saxpy), SizeIs(3));
    EXPECT_EQ(durations.problem, "the first 3 launches are enough");
}

TEST_F(DurationRecorderTest, EndsWhereLaunchesCannotBeToldApart) {
    EXPECT_THAT(measure("launch threads").problem, HasSubstr("several of its threads"));
}

TEST_F(DurationRecorderTest, WritesBeforeTheContextEnds) {
    EXPECT_THAT(measure("launch end-context").bySymbol.at(saxpy), SizeIs(1));
}

TEST_F(DurationRecorderTest, AProgramWithoutLaunchesLeavesAnEmptyList) {
    EXPECT_TRUE(measure("").bySymbol.empty());
}

TEST_F(DurationRecorderTest, AChildOfTheProgramMeasuresNothing) {
    EXPECT_THAT(measure("launch fork").bySymbol.at(saxpy), SizeIs(1));
}

} // namespace
} // namespace kernelskill::engine
