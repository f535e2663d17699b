#include "engine/graph/choice/choice_places.h"
#include "engine/graph/lowering/raised.h"
#include "engine/graph/read_program.h"
#include "tests/engine/graph/archives.h"
#include "tests/engine/graph/program_builder.h"
#include "tests/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

namespace kernelskill::engine::graph {
namespace {

using testing::archivesIn;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ProgramBuilder;
using ::testing::SizeIs;
using testing::value;

std::vector<ChoicePlace> placesOf(const Program& program) {
    const auto own = plannedModel(program, "model", {});
    EXPECT_TRUE(own) << own.error().describe();
    return own ? choicePlaces(*own) : std::vector<ChoicePlace>();
}

/// A node of type float32[64, 64].
void add(ProgramBuilder& builder, const std::string& name, const std::string& target,
         std::vector<NamedArgument> arguments) {
    builder.node(name, target, std::move(arguments)).type(name, {64, 64});
}

TEST(ChoicePlaces, HoldWhatTheKernelDoesBesideTheProduct) {
    ProgramBuilder builder;
    builder.input("x", {64, 64}).parameter("w", {64, 64});
    add(builder, "abs", "aten.abs.default", {value("self", "x")});
    add(builder, "turned", "aten.permute.default",
        {value("self", "w"), {"dims", std::vector<std::int64_t>{1, 0}}});
    add(builder, "mm", "aten.matmul.default", {value("self", "abs"), value("other", "turned")});
    add(builder, "relu", "aten.relu.default", {value("self", "mm")});
    add(builder, "softmax", "aten.softmax.int", {value("self", "relu"), {"dim", std::int64_t{-1}}});
    builder.output("softmax");
    const auto places = placesOf(builder.program());
    ASSERT_THAT(places, Not(IsEmpty()));
    const ChoicePlace& product = places[0];
    EXPECT_TRUE(product.isLinearAlgebra);
    EXPECT_FALSE(product.isSimplified);
    EXPECT_THAT(product.nodes, ElementsAre("mm"));
    EXPECT_THAT(product.part.nodes, ElementsAre("abs", "mm", "relu", "turned"));
    EXPECT_THAT(product.part.outputs, ElementsAre("relu"));
}

TEST(ChoicePlaces, AreOneForProductsOfOneKernel) {
    // Both layers are one product, by linear-after-linear.
    ProgramBuilder builder;
    builder.input("x", {64, 64}).parameter("v", {64, 64}).parameter("w", {64, 64});
    add(builder, "first", "aten.linear.default", {value("input", "x"), value("weight", "v")});
    add(builder, "second", "aten.linear.default", {value("input", "first"), value("weight", "w")});
    builder.output("second");
    const auto places = placesOf(builder.program());
    ASSERT_THAT(places, SizeIs(1));
    EXPECT_THAT(places[0].nodes, ElementsAre("first", "second"));
    EXPECT_TRUE(places[0].isSimplified);
}

TEST(ChoicePlaces, AreOneForEachConvolutionOfANetwork) {
    const auto program =
        readProgram(std::string(paths::sourceFolder) +
                    "/tests/engine/graph/programs/kernelbench/level3-8_ResNetBasicBlock.pt2");
    ASSERT_TRUE(program) << program.error().describe();
    std::size_t products = 0;
    for (const ChoicePlace& place : placesOf(*program)) {
        products += place.isLinearAlgebra ? 1U : 0U;
        EXPECT_THAT(place.nodes, SizeIs(1));
        EXPECT_THAT(place.part.outputs, SizeIs(1));
    }
    EXPECT_EQ(products, 3U) << "two, and the one of the shortcut";
}

TEST(ChoicePlaces, AreNoneOfElementwiseWork) {
    ProgramBuilder builder;
    builder.input("x", {64, 64});
    add(builder, "relu", "aten.relu.default", {value("self", "x")});
    builder.output("relu");
    EXPECT_THAT(placesOf(builder.program()), IsEmpty());
}

TEST(ChoicePlaces, EndAtValuesThatOthersRead) {
    // A block with a shortcut around the second product.
    ProgramBuilder builder;
    builder.input("x", {64, 64}).parameter("v", {64, 64}).parameter("w", {64, 64});
    add(builder, "first", "aten.linear.default", {value("input", "x"), value("weight", "v")});
    add(builder, "gate", "aten.sigmoid.default", {value("self", "first")});
    add(builder, "silu", "aten.mul.Tensor", {value("self", "first"), value("other", "gate")});
    add(builder, "second", "aten.linear.default", {value("input", "silu"), value("weight", "w")});
    add(builder, "sum", "aten.add.Tensor", {value("self", "second"), value("other", "silu")});
    add(builder, "turned", "aten.permute.default",
        {value("self", "sum"), {"dims", std::vector<std::int64_t>{1, 0}}});
    builder.output("turned");
    const auto places = placesOf(builder.program());
    ASSERT_THAT(places, SizeIs(2));
    EXPECT_THAT(places[0].part.nodes, ElementsAre("first", "gate", "silu"));
    EXPECT_THAT(places[0].part.outputs, ElementsAre("silu"));
    EXPECT_THAT(places[1].part.nodes, ElementsAre("second", "sum"));
    EXPECT_THAT(places[1].part.outputs, ElementsAre("sum"));
}

TEST(ChoicePlaces, AreOfAReductionThatIsAlone) {
    ProgramBuilder builder;
    builder.input("x", {64, 64});
    add(builder, "softmax", "aten.softmax.int", {value("self", "x"), {"dim", std::int64_t{-1}}});
    add(builder, "relu", "aten.relu.default", {value("self", "softmax")});
    builder.output("relu");
    const auto places = placesOf(builder.program());
    ASSERT_THAT(places, SizeIs(1));
    EXPECT_FALSE(places[0].isLinearAlgebra);
    EXPECT_THAT(places[0].nodes, ElementsAre("softmax"));
    EXPECT_THAT(places[0].part.nodes, ElementsAre("relu", "softmax"));
}

/// Each place of a task becomes models of both kinds, and its products have the schedules that they
/// have in the whole.
void checkTask(const std::filesystem::path& archive) {
    const auto program = readProgram(archive);
    ASSERT_TRUE(program) << program.error().describe();
    if (!program->symbols.empty())
        return;
    const auto own = plannedModel(*program, "model", {});
    ASSERT_TRUE(own) << own.error().describe();
    std::set<std::string> schedules;
    std::set<std::string> worked; // Nodes that kernels do the work of.
    for (const ModelStep& step : own->steps)
        if (const auto* kernel = std::get_if<Kernel>(&step.work)) {
            schedules.insert(kernel->schedule);
            worked.insert(kernel->sources.begin(), kernel->sources.end());
        }
    std::set<std::string> left;
    for (const Node& node : program->nodes)
        if (operatorKind(node.target) == OperatorKind::LinearAlgebra && worked.contains(node.name))
            left.insert(node.name);
    for (const ChoicePlace& place : choicePlaces(*own)) {
        const std::string what = archive.stem().string() + ", " + *place.nodes.begin();
        for (const std::string& node : place.nodes)
            left.erase(node);
        const auto part = programPart(*program, place.part);
        ASSERT_TRUE(part) << what << ": " << part.error().describe();
        const auto kernels = plannedModel(*part, "part", {});
        ASSERT_TRUE(kernels) << what << ": " << kernels.error().describe();
        EXPECT_THAT(libraryCalls(*kernels), IsEmpty()) << what;
        for (const ModelStep& step : kernels->steps)
            if (const auto* kernel = std::get_if<Kernel>(&step.work);
                kernel != nullptr && kernel->schedule.contains("results a block"))
                EXPECT_TRUE(schedules.contains(kernel->schedule)) << what << kernel->schedule;
        ModelOptions options;
        std::size_t number = 0;
        for (const Node& node : program->nodes) {
            if (place.nodes.contains(node.name))
                options.libraryNodes.insert(partNodeName(number));
            number += place.part.nodes.contains(node.name) ? 1 : 0;
        }
        const auto library = plannedModel(*part, "part", options);
        ASSERT_TRUE(library) << what << ": " << library.error().describe();
        if (library->constantOutputs.empty()) // Nothing is left to be done of the others.
            EXPECT_EQ(libraryCalls(*library).size(), place.nodes.size()) << what;
    }
    EXPECT_THAT(left, IsEmpty()) << archive.stem();
}

TEST(ChoicePlaces, OfTasksBecomeModelsOfTheirOwn) {
    for (const std::filesystem::path& archive :
         archivesIn(std::string(paths::sourceFolder) + "/tests/engine/graph/programs/kernelbench"))
        checkTask(archive);
}

/// KERNELSKILL_KERNELBENCH names a folder of exported tasks.
TEST(ChoicePlaces, OfAFolderBecomeModelsOfTheirOwn) {
    const char* folder = std::getenv("KERNELSKILL_KERNELBENCH");
    if (folder == nullptr)
        GTEST_SKIP() << "KERNELSKILL_KERNELBENCH names no folder";
    for (const std::filesystem::path& archive : archivesIn(folder))
        checkTask(archive);
}

} // namespace
} // namespace kernelskill::engine::graph
