#include "engine/review/output_judgement.h"
#include "tests/engine/comparison/buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::doubles;
using kernelskill::testing::floats;
using ::testing::HasSubstr;

const TrialPlace place{.label = "n=1", .isFileSize = true, .seed = 0x2a, .launch = {}};
const Closeness exact{};
const Closeness reordered{skills::Numerics::Reassociates, ""};

RunPair pairOf(std::vector<float> original, std::vector<float> candidate) {
    RunPair pair;
    pair.original.outputs = {floats(original)};
    pair.candidate.outputs = {floats(candidate)};
    return pair;
}
RunPair pairWithTruth(std::vector<float> original, std::vector<float> candidate,
                      std::vector<double> truth) {
    RunPair pair = pairOf(std::move(original), std::move(candidate));
    pair.truth = std::vector<BufferContents>{doubles(truth)};
    return pair;
}
RunPair pairWithoutTruth(std::vector<float> original, std::vector<float> candidate) {
    RunPair pair = pairOf(std::move(original), std::move(candidate));
    pair.truth = std::unexpected(Error{ErrorKind::Unsupported, "it has no double form", "", ""});
    return pair;
}

Hazard hazardOf(HazardKind kind) {
    Hazard hazard;
    hazard.kind = kind;
    hazard.file = "a.cu";
    hazard.line = 3;
    return hazard;
}

CheckResult judged(const RunPair& pair, const Closeness& closeness) {
    return judgeOutputs("matches", place, pair, closeness).check;
}

TEST(OutputJudgement, AnExactEditAgreesBitByBitAndSaysOnWhichSeed) {
    CheckResult check = judged(pairOf({1, 2}, {1, 2}), exact);
    ASSERT_TRUE(check);
    EXPECT_THAT(check->detail, HasSubstr("compared with the original, bit by bit; seed 0x2a"));
}

TEST(OutputJudgement, AnExactEditMayNotRoundDifferently) {
    CheckResult check = judged(pairOf({1, 2}, {1, 2.0000002f}), exact);
    ASSERT_FALSE(check);
    EXPECT_EQ(check.error().status, VerdictStatus::Incorrect);
    EXPECT_TRUE(check.error().isAboutEdit);
}

TEST(OutputJudgement, AReorderedSumMayBeSomewhatFurtherFromTheTruthThanTheOriginal) {
    // The original is 1e-4 away from float64, scaled; four times as much is allowed.
    EXPECT_TRUE(judged(pairWithTruth({1.0001f}, {0.9997f}, {1.0}), reordered));
    CheckResult far = judged(pairWithTruth({1.0001f}, {1.0005f}, {1.0}), reordered);
    ASSERT_FALSE(far);
    EXPECT_EQ(far.error().status, VerdictStatus::Incorrect);
    EXPECT_THAT(far.error().detail, HasSubstr("a float64 reference"));
}

TEST(OutputJudgement, AnOriginalThatWasExactByChanceDoesNotMakeAnotherOrderOfALongSumWrong) {
    RunPair pair = pairWithTruth({-24.4647753f}, {-24.46485f}, {-24.4647753});
    EXPECT_FALSE(judged(pair, reordered)); // a sum of one term has no other order
    pair.original.profile.extents = {{"x", 4096, true, false}};
    EXPECT_TRUE(judged(pair, reordered));
    pair.candidate.outputs = {floats({-24.466f})};
    EXPECT_FALSE(judged(pair, reordered));
}

TEST(OutputJudgement, ThreadsThatReadNothingMayComputeATermEach) {
    RunPair pair;
    pair.original.outputs = {doubles({0.162104605})};
    pair.candidate.outputs = {doubles({0.162104605 * (1 + 7e-15)})};
    pair.truth = std::vector<BufferContents>{doubles({0.162104605})};
    EXPECT_FALSE(judged(pair, reordered));
    pair.original.profile.launch.grid = {128, 1, 1};
    pair.original.profile.launch.block = {512, 1, 1};
    EXPECT_TRUE(judged(pair, reordered));
    EXPECT_FALSE(judged(pair, exact));
    pair.candidate.outputs = {doubles({0.162104605 * (1 + 1e-9)})};
    EXPECT_FALSE(judged(pair, reordered));
}

TEST(OutputJudgement, ManyOutputsTellTheErrorToExpect) {
    RunPair pair = pairWithTruth(std::vector<float>(64, 1.0f), std::vector<float>(64, 1.000002f),
                                 std::vector<double>(64, 1.0));
    pair.original.profile.extents = {{"x", 4096, true, false}};
    EXPECT_FALSE(judged(pair, reordered));
}

TEST(OutputJudgement, ATruthThatTheOriginalDoesNotComputeIsNotUsed) {
    CheckResult check = judged(pairWithTruth({1.0f}, {1.0f}, {2.0}), reordered);
    ASSERT_TRUE(check);
    EXPECT_THAT(check->detail,
                HasSubstr("because there is no float64 reference (the original itself "
                          "differs from it"));
}

TEST(OutputJudgement, WithoutATruthTheOriginalIsTheMeasureAndTheReasonIsSaid) {
    CheckResult near = judged(pairWithoutTruth({1.0f}, {1.0000005f}), reordered);
    ASSERT_TRUE(near);
    EXPECT_THAT(near->detail, HasSubstr("it has no double form"));
    EXPECT_FALSE(judged(pairWithoutTruth({1.0f}, {1.0001f}), reordered));
}

TEST(OutputJudgement, WithoutATruthALongerSumMayRoundMore) {
    RunPair pair = pairWithoutTruth({1.0f}, {1.00005f});
    EXPECT_FALSE(judged(pair, reordered));
    pair.original.profile.extents = {{"x", 1 << 20, true, false}};
    EXPECT_TRUE(judged(pair, reordered));
}

TEST(OutputJudgement, ReducedPrecisionAllowsWhatIsStated) {
    const RunPair pair = pairWithTruth({1.0f}, {1.002f}, {1.0});
    EXPECT_FALSE(judged(pair, reordered));
    EXPECT_FALSE(judged(pair, {skills::Numerics::ReducedPrecision, ""}));
    const skills::StatedError stated{0x1p-8 / skills::unitInTheLastPlace, 0};
    EXPECT_TRUE(judged(pair, {{skills::Numerics::ReducedPrecision, stated}, ""}));
}

TEST(OutputJudgement, OutputsThatCancelAreComparedAtTheirUsualScale) {
    const RunPair pair = pairWithTruth({0.0f}, {0.000003f}, {1e-9});
    Closeness reduced{skills::Numerics::ReducedPrecision, ""};
    EXPECT_FALSE(judged(pair, reduced));
    reduced.usualScales = {{pair.original.outputs.front().name, 1.0}};
    EXPECT_TRUE(judged(pair, reduced));
}

RunPair pairOfForms(double original, double candidate) {
    RunPair pair = pairWithTruth({1.0f}, {1.0f}, {original});
    pair.wideCandidate = std::vector<BufferContents>{doubles({candidate})};
    return pair;
}

TEST(OutputJudgement, WhatRoundingHidesInFloatIsSeenInFloat64) {
    const CheckResult equal = judged(pairOfForms(1.0, 1.0 + 1e-15), reordered);
    ASSERT_TRUE(equal);
    EXPECT_THAT(equal->detail, HasSubstr("both in float64: 1.11e-15 apart"));
    const CheckResult other = judged(pairOfForms(1.0, 1.0 + 1e-9), reordered);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().status, VerdictStatus::Incorrect);
    EXPECT_THAT(other.error().detail, HasSubstr("both computed in float64"));
    EXPECT_FALSE(judged(pairOfForms(1.0, 1.0 + 1e-9), {skills::Numerics::ReducedPrecision, ""}))
        << "approximate functions are exact there";
}

TEST(OutputJudgement, AFloat64FormThatIsFarFromTheOtherTellsNothing) {
    EXPECT_TRUE(judged(pairOfForms(1.0, 1.5), reordered));
    EXPECT_TRUE(judged(pairOfForms(2.0, 2.0 + 1e-9), reordered)) << "no form of the original";
}

TEST(OutputJudgement, NumbersThatFloatRoundsAreAsFarOffInFloat64) {
    Closeness rounded = reordered;
    rounded.bringsRoundedNumbers = true;
    EXPECT_TRUE(judged(pairOfForms(1.0, 1.0 + 1e-7), rounded));
    EXPECT_FALSE(judged(pairOfForms(1.0, 1.0 + 4e-7), rounded));
}

TEST(OutputJudgement, OnlyFormsOfFloatResultsAreCompared) {
    RunPair pair = pairWithTruth({}, {}, {1.0});
    pair.original.outputs = pair.candidate.outputs = {doubles({1.0})};
    pair.wideCandidate = std::vector<BufferContents>{doubles({1.0 + 1e-9})};
    EXPECT_TRUE(judged(pair, reordered));
    Closeness coarse = reordered;
    coarse.onlyFiniteness = true;
    EXPECT_TRUE(judged(pairOfForms(1.0, 1.0 + 1e-9), coarse));
}

TEST(OutputJudgement, AFormulaThatCancelsWhereTheOriginalsDoesNotIsWrong) {
    Closeness usual = reordered;
    usual.usualScales = {{"y", 1.0}};
    const auto check = [&](float original, float candidate) {
        return judged(pairWithTruth(std::vector<float>(64, original),
                                    std::vector<float>(64, candidate),
                                    std::vector<double>(64, 1e-3)),
                      usual);
    };
    EXPECT_TRUE(check(1.000001e-3f, 1.00003e-3f));
    EXPECT_FALSE(check(1.000001e-3f, 1.0005e-3f)) << "64 times four times the original's error";
    EXPECT_TRUE(check(1.00001e-3f, 1.0005e-3f));
}

TEST(OutputJudgement, AShorterSumIsComparedAtASmallerScale) {
    RunPair pair = pairWithTruth({10.0f}, {10.001f}, {10.0});
    pair.original.profile.extents = {{"x", 100, true, false}};
    Closeness closeness = reordered;
    closeness.usualScales = {{pair.original.outputs.front().name, 1000.0}};
    closeness.usualTerms = 100;
    EXPECT_TRUE(judged(pair, closenessAt(closeness, pair)));
    closeness.usualTerms = 1e6;
    EXPECT_FALSE(judged(pair, closenessAt(closeness, pair)));
    EXPECT_EQ(termsOfAResult(pair), 100);
}

TEST(OutputJudgement, OnlyInfinitiesAndNanCountWhereValuesAreTooLarge) {
    Closeness coarse = reordered;
    coarse.onlyFiniteness = true;
    EXPECT_TRUE(judged(pairWithTruth({1.0f}, {900.0f}, {1.0}), coarse));
    EXPECT_FALSE(
        judged(pairWithTruth({1.0f}, {std::numeric_limits<float>::quiet_NaN()}, {1.0}), coarse));
    EXPECT_FALSE(
        judged(pairWithTruth({1.0f}, {std::numeric_limits<float>::infinity()}, {1.0}), coarse));
}

TEST(OutputJudgement, WithoutATruthReducedPrecisionMayRoundToTheNextValueOfTheOutputsType) {
    using analysis::ScalarKind;
    // -0.5 and what follows it in bfloat16, and the one after that.
    const auto bfloats = [](std::uint16_t bits) {
        return kernelskill::testing::bufferOf<std::uint16_t>(ScalarKind::BFloat16, {bits});
    };
    RunPair pair = pairWithoutTruth({}, {});
    pair.original.outputs = {bfloats(0xbf00)};
    pair.candidate.outputs = {bfloats(0xbf01)};
    const Closeness reduced{skills::Numerics::ReducedPrecision, ""};
    EXPECT_TRUE(judged(pair, reduced));
    pair.candidate.outputs = {bfloats(0xbf03)};
    EXPECT_FALSE(judged(pair, reduced));
}

TEST(OutputJudgement, TheControlIsGivenTheToleranceThatWasUsed) {
    EXPECT_TRUE(judgeOutputs("", place, pairOf({1}, {1}), exact).tolerance.bitExact);
    const auto loose = judgeOutputs("", place, pairWithTruth({1.0001f}, {1}, {1.0}), reordered);
    EXPECT_FALSE(loose.tolerance.bitExact);
    EXPECT_NEAR(loose.tolerance.scaledError, 4e-4, 1e-6);
}

TEST(OutputJudgement, AKernelThatWritesNothingProvesNothing) {
    CheckResult check = judged(RunPair{}, exact);
    ASSERT_FALSE(check);
    EXPECT_EQ(check.error().name, "writes something");
    EXPECT_FALSE(check.error().isAboutEdit);
}

TEST(OutputJudgement, ADifferenceOfAKernelThatRacesIsNotTheEdits) {
    RunPair pair = pairOf({1}, {2});
    pair.original.profile.hazards = {hazardOf(HazardKind::Race)};
    CheckResult check = judged(pair, exact);
    ASSERT_FALSE(check);
    EXPECT_EQ(check.error().status, VerdictStatus::Invalid);
    EXPECT_FALSE(check.error().isAboutEdit);
    EXPECT_THAT(check.error().detail, HasSubstr("race on line 4"));
}

TEST(OutputJudgement, OnlyANewHazardIsHeldAgainstTheEdit) {
    const Hazard hazard = hazardOf(HazardKind::OutOfBounds);
    RunPair pair;
    EXPECT_EQ(judgeHazards("h", place, pair)->detail, "none in either");
    pair.candidate.profile.hazards = {hazard};
    CheckResult found = judgeHazards("h", place, pair);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().status, VerdictStatus::Incorrect);
    pair.original.profile.hazards = {hazard};
    EXPECT_EQ(judgeHazards("h", place, pair)->detail, "the original has 1 of its own");
}

TEST(OutputJudgement, FloatingAtomicsTakeExactnessAway) {
    analysis::KernelModel kernel;
    EXPECT_EQ(closenessFor(kernel, skills::Numerics::Exact).accuracy.numerics,
              skills::Numerics::Exact);
    analysis::Variable sum;
    sum.type.scalar = analysis::ScalarKind::Float;
    kernel.body.variables = {sum};
    kernel.accesses.resize(1);
    kernel.accesses[0].base = 0;
    kernel.atomics.resize(1);
    kernel.atomics[0].access = 0;
    const Closeness closeness = closenessFor(kernel, skills::Numerics::Exact);
    EXPECT_EQ(closeness.accuracy.numerics, skills::Numerics::Reassociates);
    EXPECT_THAT(closeness.note, HasSubstr("no fixed order"));
    kernel.body.variables[0].type.scalar = analysis::ScalarKind::Int32;
    EXPECT_EQ(closenessFor(kernel, skills::Numerics::Exact).accuracy.numerics,
              skills::Numerics::Exact);
}

} // namespace
} // namespace kernelskill::engine
