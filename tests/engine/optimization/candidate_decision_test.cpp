#include "engine/optimization/candidate_decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

Standing standingOf(double low, double high, std::int64_t n = 100) {
    Standing standing;
    standing.cost = CostEstimate{"an H200", {low, high}, {}, low};
    standing.launch = LaunchSpec{};
    standing.launch->origin = LaunchOrigin::Evaluated;
    standing.launch->arguments.emplace_back(ScalarSpec{"n", {}, n, std::nullopt});
    return standing;
}

Verdict verdictOf(VerdictStatus status, std::optional<double> speedup = std::nullopt) {
    Verdict verdict;
    verdict.status = status;
    verdict.speedup = speedup;
    return verdict;
}

const Standing before = standingOf(1e-6, 4e-6);
const Standing better = standingOf(1e-6, 2e-6);

TEST(CandidateDecision, AMeasurementDecidesWhateverTheModelSays) {
    EXPECT_TRUE(decideCandidate(verdictOf(VerdictStatus::Faster, 1.2), better, before).isKept);
    EXPECT_FALSE(decideCandidate(verdictOf(VerdictStatus::Slower, 0.8), before, better).isKept);
    Verdict reviewed = verdictOf(VerdictStatus::Inconclusive, 1.001);
    reviewed.checks = {{"matches original, seed 1", true, ""}};
    const auto unsure = decideCandidate(reviewed, before, better);
    EXPECT_FALSE(unsure.isKept);
    EXPECT_EQ(unsure.sentence, "correct, but inconclusive: measured 1.001x");
}

TEST(CandidateDecision, WhatWasOnlyTimedIsNotCalledCorrect) {
    const auto slower = decideCandidate(verdictOf(VerdictStatus::Slower, 0.8), before, better);
    EXPECT_EQ(slower.sentence, "not reviewed, because at a glance it is slower: measured 0.800x");
}

TEST(CandidateDecision, TheModelDecidesOnlyOverWhatIsCorrect) {
    const auto kept = decideCandidate(verdictOf(VerdictStatus::Unmeasured), before, better);
    EXPECT_TRUE(kept.isKept);
    EXPECT_THAT(kept.sentence, HasSubstr("by the model: ranked 1.41 times the original on "));
    EXPECT_FALSE(decideCandidate(verdictOf(VerdictStatus::Unmeasured), before, before).isKept);
    Verdict wrong = verdictOf(VerdictStatus::Incorrect);
    wrong.checks = {{"parses", true, ""}, {"matches original, seed 1", false, "y[3] differs"}};
    const auto dropped = decideCandidate(wrong, before, better);
    EXPECT_FALSE(dropped.isKept);
    EXPECT_EQ(dropped.sentence, "incorrect: matches original, seed 1: y[3] differs");
    EXPECT_FALSE(decideCandidate(verdictOf(VerdictStatus::Invalid), before, better).isKept);
    Verdict unjudged = verdictOf(VerdictStatus::Invalid);
    unjudged.isAboutEdit = false;
    unjudged.checks = {{"the original runs", false, "it takes too long"}};
    EXPECT_EQ(decideCandidate(unjudged, before, better).sentence,
              "it could not be judged: the original runs: it takes too long");
}

TEST(CandidateDecision, WithoutCountsNothingIsKeptUnmeasured) {
    EXPECT_FALSE(decideCandidate(verdictOf(VerdictStatus::Unmeasured), before, {}).isKept);
}

TEST(CandidateDecision, ATextThatTheGpusCompilerRefusesIsNotKept) {
    Standing refused = better;
    refused.compilerRefusal = "too much shared memory";
    const auto decision = decideCandidate(verdictOf(VerdictStatus::Unmeasured), before, refused);
    EXPECT_FALSE(decision.isKept);
    EXPECT_THAT(decision.sentence, HasSubstr("too much shared memory"));
    Standing both = before;
    both.compilerRefusal = "no such header";
    EXPECT_TRUE(decideCandidate(verdictOf(VerdictStatus::Unmeasured), both, refused).isKept);
}

TEST(CandidateDecision, CountsOfAnotherProblemAreNotCompared) {
    EXPECT_FALSE(
        decideCandidate(verdictOf(VerdictStatus::Unmeasured), before, standingOf(1e-6, 2e-6, 50))
            .isKept);
    Standing guess = before;
    guess.launch->origin = LaunchOrigin::Guessed;
    Standing other = better;
    other.launch->origin = LaunchOrigin::Guessed;
    EXPECT_TRUE(decideCandidate(verdictOf(VerdictStatus::Unmeasured), guess, other).isKept);
    // The launch in the text follows the same guess.
    other.launch->grid = {7, 1, 1};
    EXPECT_TRUE(decideCandidate(verdictOf(VerdictStatus::Unmeasured), guess, other).isKept);
    other.launch->isShapeGuessed = true;
    const auto decision = decideCandidate(verdictOf(VerdictStatus::Unmeasured), guess, other);
    EXPECT_FALSE(decision.isKept);
    EXPECT_THAT(decision.sentence, HasSubstr("guessed"));
}

TEST(CandidateDecision, ANumberThatTheEditAddsIsNoOtherProblem) {
    Standing more = better;
    ScalarSpec blocks;
    blocks.name = "blocks";
    blocks.integer = 4;
    more.launch->arguments.emplace_back(blocks);
    EXPECT_TRUE(decideCandidate(verdictOf(VerdictStatus::Unmeasured), before, more).isKept);
}

} // namespace
} // namespace kernelskill::engine
