/// The choice between own kernels and libraries, with made-up times.
#include "engine/graph/lowering/raised.h"
#include "tests/engine/graph/choice/node_choice_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace kernelskill::engine::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace testing;

TEST_F(NodeChoice, LeavesANodeToTheLibraryThatIsFaster) {
    const Program program = layers({512});
    MadeUpRacer racer([](const std::string& code) { return callsLibrary(code) ? 50.0 : 80.0; });
    const ModelChoice choice = choose(program, racer);
    ASSERT_THAT(choice.places, SizeIs(1));
    EXPECT_TRUE(choice.places[0].isMeasured);
    EXPECT_EQ(chosenOf(choice.places[0]), "a library in float32");
    EXPECT_THAT(choice.places[0].nodes, ElementsAre("linear0"));
    EXPECT_EQ(choice.places[0].operation,
              "aten.linear.default of float32[1024, 1024], float32[512, 1024]");
    const ModelPlan plan = planOf(program, choice);
    ASSERT_THAT(libraryCalls(plan), SizeIs(1));
    EXPECT_EQ(libraryCalls(plan)[0]->node, "linear0");
    // The clamp behind it stays a kernel.
    EXPECT_THAT(plan.steps, SizeIs(2));
    EXPECT_THAT(racer.raced, SizeIs(1)) << "the part is the whole model";
}

TEST_F(NodeChoice, TakesTheTileThatIsFastest) {
    const Program program = layers({4096});
    MadeUpRacer equal([](const std::string&) { return 50.0; });
    const std::vector<MeasuredVariant> variants = choose(program, equal).places.at(0).variants;
    ASSERT_GE(variants.size(), 7U) << "two more exact units, tiles, and the library twice";
    for (const std::size_t wanted : {std::size_t{2}, variants.size() - 3}) {
        const std::string schedule =
            variants[wanted].what.substr(std::string("own kernels: ").size());
        MadeUpRacer racer(
            [&](const std::string& code) { return code.contains(schedule) ? 40.0 : 50.0; });
        machine_ = schedule;
        const ModelPlan plan = planOf(program, choose(program, racer));
        EXPECT_THAT(libraryCalls(plan), IsEmpty());
        EXPECT_TRUE(std::ranges::any_of(plan.steps, [&](const ModelStep& step) {
            const auto* kernel = std::get_if<Kernel>(&step.work);
            return kernel != nullptr && kernel->schedule == schedule;
        })) << schedule;
    }
}

TEST_F(NodeChoice, PrefersOwnAndMoreExactKernelsThatAreEquallyFast) {
    const Program program = layers({512});
    MadeUpRacer library([](const std::string& code) { return callsLibrary(code) ? 100.0 : 100.9; });
    const ModelChoice own = choose(program, library);
    EXPECT_THAT(chosenOf(own.places.at(0)), HasSubstr("float32"));
    EXPECT_THAT(libraryCalls(planOf(program, own)), IsEmpty());
    machine_ = "another GPU";
    MadeUpRacer inexact([](const std::string& code) {
        if (callsLibrary(code))
            return 100.0;
        return code.contains("stages, TF32") ? 95.0 : 98.0;
    });
    EXPECT_THAT(chosenOf(choose(program, inexact).places.at(0)), HasSubstr("TF32"));
}

TEST_F(NodeChoice, TriesNoPrecisionThatIsNotAllowed) {
    const Program program = layers({512});
    MadeUpRacer racer([](const std::string&) { return 100.0; });
    // More exact units are tried as well.
    const std::map<MultiplyUnit, std::set<std::string>> tried = {
        {MultiplyUnit::Float32, {"float32"}},
        {MultiplyUnit::TF32Split, {"float32", "TF32 in two parts"}},
        {MultiplyUnit::BFloat16Split, {"float32", "TF32 in two parts", "bfloat16 in two parts"}},
        {MultiplyUnit::TF32, {"float32", "TF32 in two parts", "bfloat16 in two parts", "TF32"}}};
    for (const auto& [most, units] : tried) {
        const ModelChoice choice = choose(program, racer, most);
        std::set<std::string> own;
        for (const MeasuredVariant& variant : choice.places.at(0).variants)
            if (!variant.what.starts_with("a library"))
                own.insert(variant.what.substr(variant.what.rfind(", ") + 2));
        EXPECT_EQ(own, units);
    }
}

TEST_F(NodeChoice, MeasuresEqualLayersOnceAndNothingAgain) {
    const Program program = layers({1024, 1024, 512});
    MadeUpRacer racer([](const std::string& code) {
        return 10.0 + static_cast<double>(std::ranges::count(code, '\n'));
    });
    const ModelChoice first = choose(program, racer);
    EXPECT_THAT(first.places, SizeIs(3));
    const std::size_t parts = static_cast<std::size_t>(
        std::ranges::count_if(racer.raced, [](const auto& part) { return part.has_value(); }));
    EXPECT_EQ(parts, 2U) << "two of the layers are equal";

    MadeUpRacer idle([](const std::string&) { return 1.0; });
    const ModelChoice second = choose(program, idle);
    EXPECT_THAT(idle.raced, IsEmpty());
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(second.places[i].isRemembered);
        EXPECT_EQ(chosenOf(second.places[i]), chosenOf(first.places[i]));
        EXPECT_EQ(second.places[i].variants[0].time.microseconds,
                  first.places[i].variants[0].time.microseconds);
    }
    EXPECT_EQ(second.options.libraryNodes, first.options.libraryNodes);
    EXPECT_EQ(second.options.kernels.ofNodes, first.options.kernels.ofNodes);

    machine_ = "another GPU";
    static_cast<void>(choose(program, idle));
    EXPECT_THAT(idle.raced, Not(IsEmpty()));
}

TEST_F(NodeChoice, LeavesWhatIsNotMeasuredToTheLibraryAndSaysWhy) {
    const Program program = layers({1024, 512});
    MadeUpRacer racer([](const std::string& code) { return callsLibrary(code) ? 80.0 : 50.0; });
    racer.most = 1;
    const ModelChoice choice = choose(program, racer);
    ASSERT_THAT(choice.places, SizeIs(2));
    EXPECT_TRUE(choice.places[0].isMeasured);
    EXPECT_FALSE(choice.places[1].isMeasured);
    EXPECT_EQ(choice.places[1].why, "the time was up");
    EXPECT_EQ(chosenOf(choice.places[1]), "a library in float32");
    EXPECT_EQ(choice.options.float32Nodes, choice.options.libraryNodes);
    EXPECT_EQ(choice.options.libraryNodes,
              std::set<std::string>(choice.places[1].nodes.begin(), choice.places[1].nodes.end()));
}

TEST_F(NodeChoice, KeepsASmallerComputationThatIsNotMeasured) {
    // Both layers are one product, by linear-after-linear: a library would compute two.
    ProgramBuilder builder;
    builder.input("x", {1024, 1024}).parameter("v", {1024, 1024}).parameter("w", {64, 1024});
    builder.node("first", "aten.linear.default", {value("input", "x"), value("weight", "v")})
        .type("first", {1024, 1024})
        .node("second", "aten.linear.default", {value("input", "first"), value("weight", "w")})
        .type("second", {1024, 64})
        .output("second");
    MadeUpRacer racer([](const std::string&) { return 50.0; });
    racer.most = 0;
    const ModelChoice choice = choose(builder.program(), racer);
    ASSERT_THAT(choice.places, SizeIs(1));
    EXPECT_FALSE(choice.places[0].isMeasured);
    EXPECT_NE(chosenOf(choice.places[0]), "a library");
    EXPECT_THAT(choice.options.libraryNodes, IsEmpty());
}

TEST_F(NodeChoice, DoesNotTakeAVariantWithoutATime) {
    const Program program = layers({512});
    MadeUpRacer racer([](const std::string& code) {
        return callsLibrary(code) ? std::nullopt : std::optional(80.0);
    });
    const ModelChoice choice = choose(program, racer);
    EXPECT_TRUE(choice.options.libraryNodes.empty());
    EXPECT_EQ(choice.places.at(0).variants.back().time.why, "nvcc: error");
    machine_ = "another GPU";
    MadeUpRacer broken([](const std::string&) { return std::nullopt; });
    const ModelChoice none = choose(program, broken);
    EXPECT_FALSE(none.places.at(0).isMeasured);
    EXPECT_EQ(none.places.at(0).why, "no variant could be timed");
    EXPECT_THAT(none.options.libraryNodes, ElementsAre("linear0"));
}

TEST_F(NodeChoice, ComparesWholeModelsAndTakesASimpleOneThatIsFaster) {
    const Program program = layers({1024, 512});
    // A library wins at each place, and loses where the whole is timed.
    MadeUpRacer racer([](const std::string& code) {
        const bool isWhole = code.contains("namespace model");
        return callsLibrary(code) == isWhole ? 80.0 : 50.0;
    });
    const ModelChoice choice = choose(program, racer);
    for (const PlaceMeasurement& place : choice.places)
        EXPECT_EQ(chosenOf(place), "a library in float32");
    ASSERT_TRUE(choice.whole);
    EXPECT_EQ(chosenOf(*choice.whole), "own kernels alone");
    EXPECT_THAT(libraryCalls(planOf(program, choice)), IsEmpty());
}

TEST_F(NodeChoice, ComparesWholeModelsAlsoWhenTheTimeForPlacesIsUp) {
    const Program program = layers({1024, 512});
    MadeUpRacer racer([](const std::string& code) {
        const bool isWhole = code.contains("namespace model");
        return callsLibrary(code) == isWhole ? 80.0 : 50.0;
    });
    racer.onLast = 2;
    const ModelChoice choice =
        choose(program, racer, MultiplyUnit::TF32, {}, racer.last.get_token());
    EXPECT_TRUE(racer.last.stop_requested());
    ASSERT_TRUE(choice.whole);
    EXPECT_EQ(chosenOf(*choice.whole), "own kernels alone");
}

TEST_F(NodeChoice, ComparesWholeModelsWhereNoPlaceWasMeasuredInTime) {
    const Program program = layers({1024, 512});
    MadeUpRacer racer([](const std::string& code) { return callsLibrary(code) ? 80.0 : 50.0; });
    std::stop_source past;
    past.request_stop();
    const ModelChoice choice = choose(program, racer, MultiplyUnit::TF32, {}, past.get_token());
    for (const PlaceMeasurement& place : choice.places)
        EXPECT_FALSE(place.isMeasured);
    ASSERT_TRUE(choice.whole);
    EXPECT_EQ(chosenOf(*choice.whole), "own kernels alone");
    EXPECT_THAT(libraryCalls(planOf(program, choice)), IsEmpty());
}

TEST_F(NodeChoice, LetsALibraryDoAReductionThatIsFasterThere) {
    ProgramBuilder builder;
    builder.input("x", {4096, 4096})
        .node("softmax", "aten.softmax.int", {value("self", "x"), {"dim", std::int64_t{-1}}})
        .type("softmax", {4096, 4096})
        .output("softmax");
    MadeUpRacer racer([](const std::string& code) { return callsLibrary(code) ? 50.0 : 80.0; });
    const ModelChoice choice = choose(builder.program(), racer);
    ASSERT_THAT(choice.places, SizeIs(1));
    EXPECT_THAT(choice.options.libraryNodes, ElementsAre("softmax"));
    // Without a time, a reduction stays an own kernel.
    machine_ = "another GPU";
    racer.most = 0;
    EXPECT_THAT(choose(builder.program(), racer).options.libraryNodes, IsEmpty());
}

TEST_F(NodeChoice, TakesChannelsLastOrderWhereItIsFasterThere) {
    const Program program = convolutions();
    MadeUpRacer racer([](const std::string& code) {
        return hasChannelsLast(code) ? 20.0 : callsLibrary(code) ? 30.0 : 50.0;
    });
    const ModelChoice choice = choose(program, racer);
    for (const PlaceMeasurement& place : choice.places)
        if (place.operation.contains("conv2d"))
            EXPECT_EQ(chosenOf(place), "a library, in channels-last order");
    EXPECT_THAT(channelsLastCalls(planOf(program, choice)), ElementsAre("conv0", "conv1"));
}

TEST_F(NodeChoice, TimesWholeModelsFirstWherePlacesAreMany) {
    const Program program = convolutions(13);
    const auto timeOf = [](const std::string& code) {
        return hasChannelsLast(code) ? 20.0 : callsLibrary(code) ? 30.0 : 50.0;
    };
    MadeUpRacer racer(timeOf);
    racer.onLast = 2; // The first race is that of whole models.
    const ModelChoice choice =
        choose(program, racer, MultiplyUnit::TF32, {}, racer.last.get_token());
    ASSERT_FALSE(racer.raced.empty());
    EXPECT_FALSE(racer.raced[0]) << "a part instead of the whole";
    ASSERT_GE(choice.places.size(), 13U);
    EXPECT_FALSE(choice.places[0].isMeasured);
    EXPECT_EQ(chosenOf(choice.places[0]), "a library, in channels-last order");
    EXPECT_THAT(channelsLastCalls(planOf(program, choice)), SizeIs(13));

    // Without that time, the order is PyTorch's.
    machine_ = "another GPU";
    MadeUpRacer none(timeOf);
    none.most = 0;
    const ModelChoice unknown = choose(program, none);
    EXPECT_EQ(chosenOf(unknown.places.at(0)), "a library");
    EXPECT_THAT(channelsLastCalls(planOf(program, unknown)), IsEmpty());
}

TEST_F(NodeChoice, ComparesTheWholeModelsThatAreCompiledInTime) {
    const Program program = convolutions(13);
    MadeUpRacer racer([](const std::string& code) {
        return hasChannelsLast(code) ? 20.0 : callsLibrary(code) ? 80.0 : 50.0;
    });
    racer.isLate = hasChannelsLast;
    std::stop_source past;
    past.request_stop();
    const ModelChoice choice =
        choose(program, racer, MultiplyUnit::TF32, {}, past.get_token(), past.get_token());
    ASSERT_TRUE(choice.whole);
    EXPECT_EQ(chosenOf(*choice.whole), "own kernels alone");
    for (const MeasuredVariant& variant : choice.whole->variants)
        if (variant.what.contains("channels-last"))
            EXPECT_EQ(variant.time.why, "it was not compiled in time");
    EXPECT_THAT(libraryCalls(planOf(program, choice)), IsEmpty());
}

TEST_F(NodeChoice, TakesChannelsLastOrderWhereOnlyTheWholeIsFasterWithIt) {
    const Program program = convolutions();
    // A place alone turns its images twice.
    const auto convolutionsIn = [](const std::string& code) {
        std::size_t count = 0;
        for (auto at = code.find("library.run("); at != std::string::npos;
             at = code.find("library.run(", at + 1))
            ++count;
        return count;
    };
    MadeUpRacer racer([&](const std::string& code) {
        if (!callsLibrary(code))
            return 100.0;
        return hasChannelsLast(code) && convolutionsIn(code) == 1 ? 40.0
               : hasChannelsLast(code) ? 45.0
                                       : 30.0 * static_cast<double>(convolutionsIn(code));
    });
    const ModelChoice choice = choose(program, racer);
    for (const PlaceMeasurement& place : choice.places)
        if (place.operation.contains("conv2d"))
            EXPECT_EQ(chosenOf(place), "a library");
    ASSERT_TRUE(choice.whole);
    EXPECT_EQ(chosenOf(*choice.whole), "as chosen place by place, images in channels-last order");
    EXPECT_THAT(channelsLastCalls(planOf(program, choice)), ElementsAre("conv0", "conv1"));
}

TEST_F(NodeChoice, ChoosesNothingForOtherPlacesByAPlaceWithOneKindOfOwnKernels) {
    ProgramBuilder builder;
    builder.input("x", {4, 64, 32, 32})
        .parameter("v", {64, 1, 3, 3})
        .parameter("w", {128, 64, 1, 1})
        .node("depthwise", "aten.conv2d.default",
              {value("input", "x"),
               value("weight", "v"),
               {"padding", std::vector<std::int64_t>{1, 1}},
               {"groups", std::int64_t{64}}})
        .type("depthwise", {4, 64, 32, 32})
        .node("pointwise", "aten.conv2d.default",
              {value("input", "depthwise"), value("weight", "w")})
        .type("pointwise", {4, 128, 32, 32})
        .output("pointwise");
    const Program program = builder.program();
    MadeUpRacer racer(timeByUnit);
    const ModelPlan plan = planOf(program, choose(program, racer));
    EXPECT_THAT(libraryCalls(plan), IsEmpty());
    const auto product = std::ranges::find_if(plan.steps, [](const ModelStep& step) {
        const auto* kernel = std::get_if<Kernel>(&step.work);
        return kernel != nullptr && kernel->schedule.contains("results a block, each a warp");
    });
    ASSERT_NE(product, plan.steps.end());
    EXPECT_THAT(std::get<Kernel>(product->work).schedule, HasSubstr("TF32"));
}

} // namespace
} // namespace kernelskill::engine::graph
