/// Mixes of models and LibTorch, judged on the CPU: products of host code stand for kernels, and
/// keep as few bits of their factors as TF32 does.
#include "analysis/source/json.h"
#include "engine/graph/reference/judgement.h"
#include "engine/graph/torch/judge.h"
#include "engine/graph/torch/mix.h"
#include "tests/engine/graph/program_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::ProgramBuilder;
using ::testing::SizeIs;
using testing::value;
using Outcome = MixVerdict::Outcome;

/// The products of |x| and v, and of |x| and u, and what follows from their sum.
ProgramBuilder twoProducts() {
    ProgramBuilder builder;
    builder.input("x", {32, 256}).input("v", {256, 16}).input("u", {256, 16});
    builder.node("abs", "aten.abs.default", {value("self", "x")}).type("abs", {32, 256});
    for (const std::string factor : {"v", "u"})
        builder
            .node("by_" + factor, "aten.matmul.default",
                  {value("self", "abs"), value("other", factor)})
            .type("by_" + factor, {32, 16});
    builder.node("sum", "aten.add.Tensor", {value("self", "by_v"), value("other", "by_u")})
        .type("sum", {32, 16})
        .node("y", "aten.mul.Tensor", {value("self", "sum"), {"other", 4.0}})
        .type("y", {32, 16})
        .output("y");
    return builder;
}

/// The product alone.
ProgramBuilder product() {
    ProgramBuilder builder;
    builder.input("x", {32, 256})
        .input("v", {256, 16})
        .node("y", "aten.matmul.default", {value("self", "x"), value("other", "v")})
        .type("y", {32, 16})
        .output("y");
    return builder;
}

PartLibrary productOf(const std::string& factor, const char* library) {
    return {ProgramPart{{"by_" + factor}, {"by_" + factor}}, library};
}

TorchMixes judged(ProgramBuilder builder, TorchMixRequest request) {
    const auto mixes = judgeMixes(builder.build(), request);
    EXPECT_TRUE(mixes) << mixes.error().describe();
    return mixes.value_or(TorchMixes{});
}

TEST(TorchMix, JudgesPartsByTheResultsOfTheWhole) {
    TorchMixRequest request;
    request.libraries = {
        productOf("v", KERNELSKILL_TEST_PRODUCT_23), productOf("u", KERNELSKILL_TEST_PRODUCT_10),
        productOf("u", KERNELSKILL_TEST_PRODUCT_23), productOf("v", "/nowhere/libmodel.so")};
    request.mixes = {{}, {0}, {0, 1}, {0, 2}, {3}};
    const auto verdicts = judged(twoProducts(), request).verdicts;
    ASSERT_THAT(verdicts, SizeIs(5));
    for (const std::size_t right : {0, 1, 3}) {
        EXPECT_EQ(verdicts[right].outcome, Outcome::Right) << right << verdicts[right].worst;
        EXPECT_LT(verdicts[right].error, 1e-4);
    }
    EXPECT_EQ(verdicts[2].outcome, Outcome::Wrong);
    EXPECT_GT(verdicts[2].error, 1e-2);
    EXPECT_THAT(verdicts[2].worst, AllOf(HasSubstr(" inputs, seed "), HasSubstr("output 0 at ["),
                                         HasSubstr("instead of")));
    EXPECT_EQ(verdicts[4].outcome, Outcome::NotCompared);
    EXPECT_THAT(verdicts[4].why, HasSubstr("/nowhere/libmodel.so"));
}

TEST(TorchMix, IsJudgedOnTheInputsOfAJudge) {
    for (const char* library : {KERNELSKILL_TEST_PRODUCT_10, KERNELSKILL_TEST_PRODUCT_16}) {
        TorchMixRequest request;
        request.libraries = {{std::nullopt, library}};
        request.mixes = {{0}};
        const MixVerdict verdict = judged(product(), request).verdicts.at(0);
        TorchJudgeRequest gate;
        gate.library = library;
        gate.seeds = 1;
        gate.wantsTimes = false;
        const auto judgement = judge(product().build(), gate);
        ASSERT_TRUE(judgement) << judgement.error().describe();
        EXPECT_EQ(verdict.outcome == Outcome::Right, judgement->isWithinLoose());
        if (verdict.outcome != Outcome::Right) {
            // It is not run on further inputs.
            EXPECT_EQ(verdict.error, judgement->trials.at(0).error);
            EXPECT_THAT(verdict.worst,
                        HasSubstr("normal inputs, seed 1: " + judgement->trials.at(0).worst));
            continue;
        }
        double largest = 0;
        for (const TrialResult& trial : judgement->trials)
            largest = std::max(largest, trial.error);
        EXPECT_EQ(verdict.error, largest);
    }
}

TEST(TorchMix, MayHaveToKeepAMargin) {
    TorchMixRequest request;
    request.libraries = {{std::nullopt, KERNELSKILL_TEST_PRODUCT_16}};
    request.mixes = {{0}};
    const MixVerdict verdict = judged(product(), request).verdicts.at(0);
    ASSERT_EQ(verdict.outcome, Outcome::Right);
    ASSERT_GT(verdict.error, 1e-5);
    request.share = verdict.error / looseTolerance * 1.1;
    EXPECT_EQ(judged(product(), request).verdicts.at(0).outcome, Outcome::Right);
    request.share = verdict.error / looseTolerance * 0.9;
    EXPECT_EQ(judged(product(), request).verdicts.at(0).outcome, Outcome::Wrong);
}

TEST(TorchMix, IsJudgedAtATolerance) {
    TorchMixRequest request;
    for (const char* library :
         {KERNELSKILL_TEST_PRODUCT_10, KERNELSKILL_TEST_PRODUCT_16, KERNELSKILL_TEST_PRODUCT_23})
        request.libraries.push_back({std::nullopt, library});
    request.mixes = {{0}, {1}, {2}};
    const auto outcomesAt = [&](Tolerance tolerance) {
        request.tolerance = tolerance;
        std::vector<Outcome> outcomes;
        for (const MixVerdict& verdict : judged(product(), request).verdicts)
            outcomes.push_back(verdict.outcome);
        return outcomes;
    };
    EXPECT_THAT(outcomesAt(Tolerance::Loose),
                ::testing::ElementsAre(Outcome::Right, Outcome::Right, Outcome::Right));
    EXPECT_THAT(outcomesAt(Tolerance::Tight),
                ::testing::ElementsAre(Outcome::Wrong, Outcome::Wrong, Outcome::Right));
}

TEST(TorchMix, KeepsAMarginToTheTightTolerance) {
    TorchMixRequest request;
    request.tolerance = Tolerance::Tight;
    request.libraries = {{std::nullopt, KERNELSKILL_TEST_PRODUCT_23}};
    request.mixes = {{0}};
    const MixVerdict verdict = judged(product(), request).verdicts.at(0);
    ASSERT_EQ(verdict.outcome, Outcome::Right);
    ASSERT_GT(verdict.error, 0);
    request.share = verdict.error / tightTolerance * 1.1;
    EXPECT_EQ(judged(product(), request).verdicts.at(0).outcome, Outcome::Right);
    // As many elements are beyond so small a share in eager PyTorch: four times its error is more.
    request.share = verdict.error / tightTolerance * 0.01;
    EXPECT_EQ(judged(product(), request).verdicts.at(0).outcome, Outcome::Wrong);
}

TEST(TorchMix, IsReadFromItsJson) {
    TorchMixRequest request;
    request.tolerance = Tolerance::Tight;
    EXPECT_EQ(mixRequestFrom(toJson(request)).tolerance, Tolerance::Tight);
    auto json = toJson(request);
    json["tolerance"] = "1e-3";
    EXPECT_THROW(static_cast<void>(mixRequestFrom(json)), nlohmann::json::exception);
}

TEST(TorchMix, LeavesOutPartsThatCannotRunAtOnce) {
    // The part's second node needs what others make of the first one's result.
    TorchMixRequest request;
    request.libraries = {{ProgramPart{{"abs", "sum"}, {"abs", "sum"}}, KERNELSKILL_TEST_PRODUCT_23},
                         productOf("v", KERNELSKILL_TEST_PRODUCT_23)};
    request.mixes = {{1, 0}, {1}};
    const auto verdicts = judged(twoProducts(), request).verdicts;
    EXPECT_EQ(verdicts.at(0).outcome, Outcome::Right);
    EXPECT_THAT(verdicts.at(0).leftOut, ::testing::ElementsAre(1u));
    EXPECT_THAT(verdicts.at(1).leftOut, ::testing::IsEmpty());
    EXPECT_EQ(verdicts.at(0).error, verdicts.at(1).error);
}

TEST(TorchMix, EndsWhenTheTimeIsUp) {
    TorchMixRequest request;
    request.mixes = {{}};
    request.longest = std::chrono::milliseconds(0);
    const MixVerdict verdict = judged(product(), request).verdicts.at(0);
    EXPECT_EQ(verdict.outcome, Outcome::NotCompared);
    EXPECT_EQ(verdict.why, "the time was up");
}

} // namespace
} // namespace kernelskill::engine::graph
