#include "engine/replay/replayed_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

MemoryDifference difference(MemoryElement element, double relative, std::uint64_t stray = 0) {
    return {"the allocation", 0x100, 64, 8, 4, stray, element, relative};
}

TrialOutcome outcomeOf(std::vector<MemoryDifference> differences, bool isExact,
                       std::vector<MemoryDifference> variation = {}) {
    TryAnswer answer;
    answer.variation = std::move(variation);
    answer.candidates.resize(1);
    answer.candidates[0].differences = std::move(differences);
    return judgeTrial({}, answer, 0, isExact).outcome;
}

TEST(ReplayedTrial, TellsRoundingFromAnotherResult) {
    EXPECT_EQ(outcomeOf({}, true), TrialOutcome::Same);
    const auto rounded = difference(MemoryElement::Float32, 1e-6);
    EXPECT_EQ(outcomeOf({rounded}, false), TrialOutcome::Rounded);
    EXPECT_EQ(outcomeOf({rounded}, true), TrialOutcome::Different);
    EXPECT_EQ(outcomeOf({difference(MemoryElement::Float32, 1e-4)}, false),
              TrialOutcome::NotJudged);
    EXPECT_EQ(outcomeOf({difference(MemoryElement::Float32, 1e-4)}, true), TrialOutcome::Different);
    EXPECT_EQ(outcomeOf({difference(MemoryElement::Float32, 1e-4, 4)}, false),
              TrialOutcome::Different)
        << "it writes where the original does not";
    EXPECT_EQ(outcomeOf({difference(MemoryElement::Float32, 2e-3)}, false),
              TrialOutcome::Different);
    EXPECT_EQ(outcomeOf({difference(MemoryElement::Float64, 1e-6)}, false),
              TrialOutcome::Different);
    EXPECT_EQ(outcomeOf({rounded, difference(MemoryElement::Float32, 0.5)}, false),
              TrialOutcome::Different);
}

TEST(ReplayedTrial, TakesBytesOfNoTypeForNothingElse) {
    EXPECT_EQ(outcomeOf({difference(MemoryElement::Bytes, 0)}, false), TrialOutcome::Different);
    EXPECT_EQ(outcomeOf({difference(MemoryElement::Bytes, 1e-9)}, false), TrialOutcome::Different);
}

TEST(ReplayedTrial, DoesNotJudgeWhatVariesByItself) {
    const auto own = difference(MemoryElement::Bytes, 0.3);
    EXPECT_EQ(outcomeOf({own}, false, {own}), TrialOutcome::NotJudged);
    EXPECT_EQ(outcomeOf({difference(MemoryElement::Bytes, 0.3, 4)}, false, {own}),
              TrialOutcome::Different)
        << "it writes where the original does not";
    auto elsewhere = own;
    elsewhere.where = "another one";
    EXPECT_EQ(outcomeOf({own, elsewhere}, false, {own}), TrialOutcome::Different);
    auto wider = own;
    wider.differingBytes = 16 * own.differingBytes;
    EXPECT_EQ(outcomeOf({wider}, false, {own}), TrialOutcome::NotJudged);
    ++wider.differingBytes;
    EXPECT_EQ(outcomeOf({wider}, false, {own}), TrialOutcome::Different);
    const auto numbers = difference(MemoryElement::Float32, 0.01);
    EXPECT_EQ(outcomeOf({difference(MemoryElement::Float32, 0.15)}, false, {numbers}),
              TrialOutcome::NotJudged);
    EXPECT_EQ(outcomeOf({difference(MemoryElement::Float32, 0.17)}, false, {numbers}),
              TrialOutcome::Different);
}

TEST(ReplayedTrial, DoesNotBlameAKernelForWhatTheHostMayHaveWritten) {
    auto ofHost = difference(MemoryElement::Bytes, 0.3, 4);
    ofHost.isOfHost = true;
    EXPECT_EQ(outcomeOf({ofHost}, true), TrialOutcome::NotJudged);
    EXPECT_EQ(outcomeOf({difference(MemoryElement::Float32, 1e-6), ofHost}, false),
              TrialOutcome::NotJudged);
    EXPECT_EQ(outcomeOf({difference(MemoryElement::Float32, 0.5), ofHost}, false),
              TrialOutcome::Different);
}

TEST(ReplayedTrial, SaysWhatWasNotRun) {
    TryAnswer answer;
    answer.candidates.resize(1);
    answer.candidates[0].refusal = Error{ErrorKind::InvalidInput, "too large", {}, {}};
    const auto trial = judgeTrial({}, answer, 0, false);
    EXPECT_EQ(trial.outcome, TrialOutcome::NotLoaded);
    EXPECT_EQ(trial.sentence, "too large");
    EXPECT_EQ(judgeTrial({}, answer, 1, false).outcome, TrialOutcome::NotJudged);
    EXPECT_EQ(failedTrial({ErrorKind::Failed, "it fell", {}, {}}).outcome, TrialOutcome::Failed);
}

TEST(ReplayedTrial, NamesTheParameter) {
    HeldDescription held;
    held.launch.parameters.resize(2);
    held.launch.parameters[1].buffer = CapturedBuffer{0x120, 32, {}, {}, "held"};
    const auto text = describe(difference(MemoryElement::Float32, 0.25, 2), held);
    EXPECT_THAT(text, HasSubstr("the allocation, where parameter 2 points to: 4 of 64 bytes"));
    EXPECT_THAT(text, HasSubstr("from offset 8 on"));
    EXPECT_THAT(text, HasSubstr("leaves 2 of them alone"));
    EXPECT_THAT(text, HasSubstr("as float32 by up to 0.25"));
}

} // namespace
} // namespace kernelskill::engine
