#include "engine/verification/program_trial.h"
#include "engine/verification/verification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ReplayedTrial trialOf(TrialOutcome outcome, double microseconds) {
    ReplayedTrial trial;
    trial.outcome = outcome;
    trial.sentence = "it is " + std::string(spelling(outcome));
    if (outcome != TrialOutcome::NotLoaded && outcome != TrialOutcome::Failed) {
        trial.original.assign(20, 30.0);
        trial.candidate.assign(20, microseconds);
    }
    return trial;
}

ProgramTrial judged(TrialOutcome before, TrialOutcome after) {
    HeldDescription held;
    held.launch.ordinal = 2;
    held.allocations = 3;
    held.allocatedBytes = 12'000'000;
    return judgeInProgram(held, trialOf(before, 20), trialOf(after, 10));
}

TEST(ProgramTrial, SaysThatMemoryIsTheSameAndHowFastItIs) {
    const auto trial = judged(TrialOutcome::Same, TrialOutcome::Same);
    EXPECT_EQ(trial.outcome, ChangeOutcome::Right);
    EXPECT_EQ(trial.launch, 2u);
    EXPECT_EQ(trial.sentence,
              "same memory as before (3 allocations, 12 MB), 2 times as fast (2 to 2, "
              "20 rounds)");
    ASSERT_TRUE(trial.timing);
    EXPECT_EQ(trial.timing->status, VerdictStatus::Faster);
    EXPECT_THAT(judged(TrialOutcome::Same, TrialOutcome::Rounded).sentence,
                HasSubstr("but for rounding"));
}

TEST(ProgramTrial, MeasuresAgainstTheProgramsKernelWithoutTheOldVersion) {
    const auto trial = judged(TrialOutcome::NotLoaded, TrialOutcome::Same);
    EXPECT_EQ(trial.outcome, ChangeOutcome::Right);
    ASSERT_TRUE(trial.timing);
    EXPECT_EQ(trial.timing->speedup, 3);
    EXPECT_THAT(trial.notes, ElementsAre(HasSubstr("the old version was not compared")));
}

TEST(ProgramTrial, ADifferenceIsWrong) {
    for (const auto after : {TrialOutcome::Different, TrialOutcome::Failed}) {
        const auto trial = judged(TrialOutcome::Same, after);
        EXPECT_EQ(trial.outcome, ChangeOutcome::Wrong);
        EXPECT_EQ(trial.sentence, "it is " + std::string(spelling(after)));
        EXPECT_FALSE(trial.timing);
    }
}

TEST(ProgramTrial, KnowsAProgramThatIsBuiltFromTheNewVersion) {
    const auto trial = judged(TrialOutcome::Different, TrialOutcome::Same);
    EXPECT_EQ(trial.outcome, ChangeOutcome::Wrong);
    EXPECT_THAT(trial.sentence, HasSubstr("not what the old one does: it is different"));
}

TEST(ProgramTrial, DoesNotJudgeWithAProgramOfAnotherText) {
    const auto trial = judged(TrialOutcome::Different, TrialOutcome::Different);
    EXPECT_EQ(trial.outcome, ChangeOutcome::NotJudged);
    EXPECT_THAT(trial.sentence, HasSubstr("neither version"));
    for (const auto after : {TrialOutcome::NotJudged, TrialOutcome::NotLoaded})
        EXPECT_EQ(judged(TrialOutcome::Same, after).outcome, ChangeOutcome::NotJudged);
}

} // namespace
} // namespace kernelskill::engine
