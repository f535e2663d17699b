/// The choice of variants with which a model is right at 1e-4, with made-up times and verdicts.
#include "engine/graph/choice/model_variant.h"
#include "engine/graph/choice/remembered_verdicts.h"
#include "tests/engine/graph/choice/node_choice_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>

namespace kernelskill::engine::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace testing;

class TightChoice : public NodeChoice {
protected:
    TightChoice() { tolerance_ = Tolerance::Tight; }
};

bool isLibraryInTf32(const std::string& code) {
    return callsLibrary(code) && !code.contains("needsFloat32");
}

bool sumsInSteps(const std::string& code) {
    return code.contains("sums in steps");
}

bool sumsAll(const std::string& code) {
    return isSplitBFloat16(code) && !sumsInSteps(code);
}

/// Nothing in TF32 is right.
MixVerdict withoutTf32(const std::vector<std::string>& codes) {
    return std::ranges::any_of(
               codes, [](const auto& code) { return isTf32(code) || isLibraryInTf32(code); })
               ? MadeUpRacer::wrong()
               : MadeUpRacer::right();
}

std::ptrdiff_t countInTf32(const PlaceMeasurement& place) {
    return std::ranges::count_if(
        place.variants, [](const MeasuredVariant& variant) { return isTf32(variant.what); });
}

std::string refusalOf(const PlaceMeasurement& place, const std::string& what) {
    const auto found = std::ranges::find(place.variants, what, &MeasuredVariant::what);
    return found != place.variants.end() ? found->refused : "no such variant";
}

TEST_F(TightChoice, TriesNoOwnKernelsInTf32WhereThatOfALibraryIsWrong) {
    const Program program = layers({512});
    MadeUpRacer racer(timeByUnit);
    racer.verdictOf = withoutTf32;
    const ModelChoice choice = choose(program, racer);
    const PlaceMeasurement& place = choice.places.at(0);
    EXPECT_EQ(countInTf32(place), 0);
    EXPECT_EQ(refusalOf(place, "a library in TF32"), "normal inputs, seed 1: 2 instead of 1");
    EXPECT_THAT(chosenOf(place), HasSubstr("bfloat16 in two parts"));
    EXPECT_THAT(racer.raced, SizeIs(1)) << "nothing is compiled afterwards";

    tolerance_ = Tolerance::Loose;
    EXPECT_GT(countInTf32(choose(program, racer).places.at(0)), 0);
}

TEST_F(TightChoice, TriesOwnKernelsInTf32WhereThatOfALibraryIsRight) {
    const Program program = layers({512});
    MadeUpRacer racer(timeByUnit);
    const ModelChoice choice = choose(program, racer);
    EXPECT_TRUE(isTf32(chosenOf(choice.places.at(0)))) << chosenOf(choice.places.at(0));
    EXPECT_EQ(countInTf32(choice.places.at(0)), 4);
}

TEST_F(TightChoice, TakesMoreExactVariantsStepByStep) {
    const Program program = layers({512});
    const auto unitsWrong = [&](const std::vector<bool (*)(const std::string&)>& wrong) {
        machine_ += "'";
        MadeUpRacer racer([](const std::string& code) {
            return callsLibrary(code) ? 200.0
                                      : timeByUnit(code).value_or(0) + (sumsInSteps(code) ? 5 : 0);
        });
        racer.verdictOf = [&](const std::vector<std::string>& codes) {
            return std::ranges::any_of(
                       wrong, [&](const auto& is) { return std::ranges::any_of(codes, is); })
                       ? MadeUpRacer::wrong()
                       : withoutTf32(codes);
        };
        return chosenOf(choose(program, racer).places.at(0));
    };
    EXPECT_THAT(unitsWrong({}), EndsWith("bfloat16 in two parts"));
    EXPECT_THAT(unitsWrong({sumsAll}), EndsWith("bfloat16 in two parts, sums in steps"));
    EXPECT_THAT(unitsWrong({isSplitBFloat16}), HasSubstr("TF32 in two parts"));
    EXPECT_THAT(unitsWrong({isSplitBFloat16, isSplitTf32}),
                ::testing::AllOf(HasSubstr("own kernels"), Not(HasSubstr("two parts"))));
}

TEST_F(TightChoice, TakesFloat32WhereNothingVouches) {
    const Program program = layers({1024, 512});
    MadeUpRacer racer(timeByUnit);
    racer.isJudgeGone = true;
    const ModelChoice choice = choose(program, racer);
    for (const PlaceMeasurement& place : choice.places) {
        EXPECT_EQ(chosenOf(place), "a library in float32");
        EXPECT_EQ(refusalOf(place, "a library in TF32"), "not compared: the time was up");
        for (const MeasuredVariant& variant : place.variants)
            if (variant.what.contains("two parts"))
                EXPECT_EQ(variant.refused, "not compared: the time was up") << variant.what;
    }
    EXPECT_THAT(planOf(program, choice).float32Nodes, ElementsAre("linear0", "linear1"));
}

TEST_F(TightChoice, TakesFloat32WhereNothingIsMeasured) {
    const Program products = layers({1024, 512});
    const Program images = convolutions();
    for (const Program* program : {&products, &images}) {
        MadeUpRacer racer(timeByUnit);
        racer.most = 0;
        const ModelPlan plan = planOf(*program, choose(*program, racer));
        EXPECT_THAT(plan.float32Nodes, SizeIs(2));
        EXPECT_THAT(libraryCalls(plan), SizeIs(2));
    }
    tolerance_ = Tolerance::Loose;
    MadeUpRacer racer(timeByUnit);
    racer.most = 0;
    EXPECT_THAT(planOf(images, choose(images, racer)).float32Nodes, IsEmpty());
}

TEST_F(TightChoice, HasALibraryComputeConvolutionsInFloat32) {
    const Program program = convolutions();
    MadeUpRacer racer([](const std::string& code) {
        if (!callsLibrary(code))
            return 90.0;
        return (isLibraryInTf32(code) ? 20.0 : 50.0) - (hasChannelsLast(code) ? 10.0 : 0.0);
    });
    racer.verdictOf = withoutTf32;
    const ModelChoice choice = choose(program, racer);
    for (const PlaceMeasurement& place : choice.places)
        if (place.operation.contains("conv2d")) {
            EXPECT_EQ(chosenOf(place), "a library in float32, in channels-last order");
            EXPECT_NE(refusalOf(place, "a library in TF32"), "");
        }
    EXPECT_THAT(planOf(program, choice).float32Nodes, ElementsAre("conv0", "conv1"));

    // Where TF32 is right, both orders of images are tried in it.
    machine_ = "another GPU";
    racer.verdictOf = [](const std::vector<std::string>&) { return MadeUpRacer::right(); };
    const ModelChoice other = choose(program, racer);
    EXPECT_EQ(chosenOf(other.places.at(0)), "a library in TF32, in channels-last order");
    EXPECT_THAT(planOf(program, other).float32Nodes, IsEmpty());
}

TEST_F(TightChoice, HasWholeModelsWithoutTf32FirstWherePlacesAreMany) {
    const Program program = convolutions(13);
    MadeUpRacer racer([](const std::string& code) {
        EXPECT_FALSE(isLibraryInTf32(code));
        return hasChannelsLast(code) ? 20.0 : callsLibrary(code) ? 30.0 : 50.0;
    });
    racer.onLast = 2; // The first race is that of whole models.
    const ModelChoice choice =
        choose(program, racer, MultiplyUnit::TF32, {}, racer.last.get_token());
    EXPECT_EQ(chosenOf(choice.places.at(0)), "a library in float32, in channels-last order");
    EXPECT_THAT(planOf(program, choice).float32Nodes, SizeIs(13));
}

TEST_F(TightChoice, JudgesTf32AtAllPlacesTogetherWhereTheyAreMany) {
    const auto judgedFirst = [&](int count) {
        MadeUpRacer racer(timeByUnit);
        racer.verdictOf = withoutTf32;
        const ModelChoice choice = choose(convolutions(count), racer);
        for (const PlaceMeasurement& place : choice.places)
            if (place.operation.contains("conv2d"))
                EXPECT_NE(refusalOf(place, "a library in TF32"), "");
        return racer.judged.at(0);
    };
    EXPECT_EQ(judgedFirst(2), 1U);
    EXPECT_EQ(judgedFirst(13), 13U);
}

TEST_F(TightChoice, FallsBackToAModelInFloat32) {
    const Program program = layers({1024, 512});
    MadeUpRacer racer(timeByUnit);
    racer.verdictOf = [](const std::vector<std::string>& codes) {
        return codes.at(0).starts_with("whole") && !codes.at(0).contains("needsFloat32")
                   ? MadeUpRacer::wrong()
                   : withoutTf32(codes);
    };
    const ModelChoice choice = choose(program, racer);
    EXPECT_THAT(planOf(program, choice).float32Nodes, ElementsAre("linear0", "linear1"));
    ASSERT_TRUE(choice.whole);
    EXPECT_THAT(chosenOf(*choice.whole), HasSubstr("in float32"));
}

TEST_F(TightChoice, HasNodesWithoutARuleComputedInFloat32) {
    ProgramBuilder builder;
    builder.input("x", {64, 64})
        .node("sorted", "aten.nonsense.default", {value("self", "x")})
        .type("sorted", {64, 64})
        .node("relu", "aten.relu.default", {value("self", "sorted")})
        .type("relu", {64, 64})
        .output("relu");
    const Program program = builder.program();
    EXPECT_THAT(float32NodesOf(program, Tolerance::Tight, false), ElementsAre("sorted"));
    EXPECT_THAT(float32NodesOf(program, Tolerance::Loose, true), IsEmpty());
    MadeUpRacer racer(timeByUnit);
    EXPECT_THAT(planOf(program, choose(program, racer)).float32Nodes, ElementsAre("sorted"));
}

TEST_F(TightChoice, RemembersVerdictsOfEachTolerance) {
    const Program program = layers({1024, 512});
    MadeUpRacer racer(timeByUnit);
    racer.verdictOf = withoutTf32;
    tolerance_ = Tolerance::Loose;
    // The variants are the same at both.
    const ModelChoice loose = choose(program, racer, MultiplyUnit::TF32Split);
    tolerance_ = Tolerance::Tight;
    racer.judged.clear();
    static_cast<void>(choose(program, racer, MultiplyUnit::TF32Split));
    EXPECT_THAT(racer.judged, Not(IsEmpty())) << "what is right at 1e-2 need not be at 1e-4";

    MadeUpRacer idle(timeByUnit);
    for (const Tolerance tolerance : {Tolerance::Tight, Tolerance::Loose}) {
        tolerance_ = tolerance;
        EXPECT_TRUE(choose(program, idle, MultiplyUnit::TF32Split).accuracy->isRemembered);
    }
    EXPECT_THAT(idle.judged, IsEmpty());

    // Verdicts from when there was one tolerance hold at the loose one.
    const ModelFiles files = modelFiles(planOf(program, loose));
    RememberedVerdicts old(fmt::format("{} {} {}", programKey(program), machine_, false), idle,
                           memory_, {});
    const auto verdicts = old.of({{{std::nullopt, &files}}});
    EXPECT_TRUE(old.areRemembered());
    EXPECT_EQ(verdicts.at(0).outcome, MixVerdict::Outcome::Right);
}

} // namespace
} // namespace kernelskill::engine::graph
