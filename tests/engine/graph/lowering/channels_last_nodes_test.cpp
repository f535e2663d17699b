/// Tests which nodes of a graph store their results in channels-last order, and what that costs.
#include "engine/graph/lowering/channels_last_nodes.h"
#include "engine/graph/model/model_plan.h"
#include "tests/engine/graph/program_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace kernelskill::engine::graph::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const std::string convolution = "aten.conv2d.default";

/// relu(x), a convolution, tanh, a second one, the sum of both, and a linear layer of its means.
ProgramBuilder network() {
    const Sizes image{2, 40, 8, 8};
    ProgramBuilder builder;
    builder.input("x", image).parameter("v", {40, 40, 1, 1}).parameter("w", {40, 40, 1, 1});
    builder.parameter("u", {5, 40});
    builder.node("relu", "aten.relu.default", {value("self", "x")})
        .node("first", convolution, {value("input", "relu"), value("weight", "v")})
        .node("tanh", "aten.tanh.default", {value("self", "first")})
        .node("second", convolution, {value("input", "tanh"), value("weight", "w")})
        .node("sum", "aten.add.Tensor", {value("self", "tanh"), value("other", "second")});
    for (const char* name : {"relu", "first", "tanh", "second", "sum"})
        builder.type(name, image);
    builder
        .node("mean", "aten.mean.dim",
              {value("self", "sum"), {"dim", std::vector<std::int64_t>{2, 3}}})
        .type("mean", {2, 40})
        .node("linear", "aten.linear.default", {value("input", "mean"), value("weight", "u")})
        .type("linear", {2, 5})
        .node("last", "aten.relu.default", {value("self", "linear")})
        .type("last", {2, 5})
        .output("last");
    return builder;
}

TEST(ChannelsLastNodes, AreAroundTheConvolutionsAsFarAsAxesAreTheSame) {
    const Program program = network().program();
    EXPECT_THAT(imageConvolutions(program), ElementsAre("first", "second"));
    EXPECT_THAT(channelsLastNodes(program, {"second"}),
                UnorderedElementsAre("second", "tanh", "sum", "mean"))
        << "the first convolution is not of a library in that order, and ends it";
    EXPECT_THAT(channelsLastNodes(program, {"first", "second"}),
                UnorderedElementsAre("relu", "first", "tanh", "second", "sum", "mean"));
    EXPECT_THAT(channelsLastNodes(program, {}), IsEmpty());
}

TEST(ChannelsLastNodes, AreNoConvolutionsOfOneAxisOrWithoutABatch) {
    ProgramBuilder builder;
    builder.input("x", {2, 4, 9}).parameter("w", {4, 4, 1}).parameter("v", {2, 2, 1, 1});
    builder.node("line", "aten.conv1d.default", {value("input", "x"), value("weight", "w")})
        .type("line", {2, 4, 9})
        .node("single", convolution, {value("input", "x"), value("weight", "v")})
        .type("single", {2, 4, 9})
        .output("line")
        .output("single");
    EXPECT_THAT(imageConvolutions(builder.program()), IsEmpty());
}

/// The names of kernels that run in each call, and of nodes that a library runs.
std::vector<std::string> stepsOf(const Program& program, const ModelOptions& options) {
    const auto plan = plannedModel(program, "model", options);
    EXPECT_TRUE(plan) << plan.error().describe();
    std::vector<std::string> steps;
    for (const ModelStep& step : plan->steps)
        if (const auto* kernel = std::get_if<Kernel>(&step.work); kernel == nullptr)
            steps.push_back("library " + std::get<analysis::raise::LibraryCall>(step.work).node);
        else if (!step.dependsOnWeightsAlone)
            steps.push_back(kernel->name);
    return steps;
}

TEST(ChannelsLastNodes, TurnImagesOnceOnTheirWayIn) {
    const Program program = network().program();
    const std::set<std::string> both{"first", "second"};
    const ModelOptions options{.libraryNodes = both, .channelsLastNodes = both};
    // As many kernels as in the order of the graph: the first one transposes what it reads.
    EXPECT_EQ(stepsOf(program, options).size(), stepsOf(program, {.libraryNodes = both}).size());
    const auto plan = plannedModel(program, "model", options);
    ASSERT_TRUE(plan);
    EXPECT_THAT(channelsLastCalls(*plan), ElementsAre("first", "second"));
    EXPECT_TRUE(std::get<Kernel>(plan->steps.at(0).work).schedule.contains("transposes a tile"));
    for (std::size_t i = 1; i < plan->steps.size(); ++i)
        if (const auto* kernel = std::get_if<Kernel>(&plan->steps[i].work);
            kernel != nullptr && !plan->steps[i].dependsOnWeightsAlone)
            EXPECT_FALSE(kernel->schedule.contains("transposes a tile")) << kernel->name;
    // Own kernels run in the order of the graph.
    EXPECT_EQ(stepsOf(program, {.channelsLastNodes = both}), stepsOf(program, {}));
}

} // namespace
} // namespace kernelskill::engine::graph::testing
