#include "analysis/source/json.h"
#include "engine/graph/model/manifest.h"
#include "engine/graph/model/model_files.h"
#include "engine/graph/read_program.h"
#include "tests/engine/graph/program_builder.h"
#include "tests/engine/graph/sample_programs.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace kernelskill::engine::graph::testing {
namespace {

ModelFiles filesOf(const Program& graph, const ModelOptions& options = {}) {
    const auto plan = plannedModel(graph, "model", options);
    EXPECT_TRUE(plan) << plan.error().describe();
    return plan ? modelFiles(*plan) : ModelFiles();
}

Program reluProgram() {
    ProgramBuilder builder;
    builder.input("x", {8, 16})
        .node("relu", "aten.relu.default", {value("self", "x")}, "layers.0")
        .type("relu", {8, 16})
        .output("relu");
    return builder.program();
}

TEST(ModelFiles, NameTheNodesOfAKernel) {
    const ModelFiles files = filesOf(reluProgram());
    const std::string& kernel = files.at("kernels/relu.cu");
    EXPECT_TRUE(kernel.contains("//   relu  aten.relu.default  of layers.0")) << kernel;
    EXPECT_TRUE(kernel.contains("cudaError_t launch_relu(")) << kernel;
    EXPECT_TRUE(files.at("CMakeLists.txt").contains("kernels/relu.cu"));
    EXPECT_TRUE(files.at("torch_operator.cpp").contains("TORCH_LIBRARY(model, library)"));
}

TEST(ModelFiles, LetALibraryKeepAnOutputThatItComputes) {
    ProgramBuilder builder;
    builder.input("x", {8, 16})
        .parameter("w", {4, 16})
        .node("linear", "aten.linear.default", {value("input", "x"), value("weight", "w")})
        .type("linear", {8, 4})
        .node("relu", "aten.relu.default", {value("self", "linear")})
        .type("relu", {8, 4})
        .output("relu");
    const auto abiOf = [&](const ModelOptions& options) {
        return filesOf(builder.program(), options).at("model_abi.cpp");
    };
    const std::string none = "kernelskillModelLibraryOutput(int)\n{\n    return 0;\n";
    // A kernel writes the output behind the library's result.
    EXPECT_TRUE(abiOf({.usesLibraries = true}).contains(none));
    builder.output("linear");
    // The clamp reads the second output: it has to be where the caller wants it.
    EXPECT_TRUE(abiOf({.usesLibraries = true}).contains(none));
    builder.program().outputs.erase(builder.program().outputs.begin());
    const ModelFiles files = filesOf(builder.program(), {.usesLibraries = true});
    EXPECT_TRUE(files.at("model_abi.cpp").contains("return output == 0;\n"));
    EXPECT_TRUE(files.at("model.h").contains("May be null")) << files.at("model.h");
    EXPECT_TRUE(files.at("torch_operator.cpp").contains("library.result_linear.view("))
        << files.at("torch_operator.cpp");
    builder.output("linear"); // The same twice: one is a copy of the other.
    EXPECT_TRUE(abiOf({.usesLibraries = true}).contains(none));
}

TEST(ModelFiles, NameTheNodesOfALibraryThatNeedFloat32) {
    ProgramBuilder builder;
    builder.input("x", {8, 16}).parameter("v", {16, 16}).parameter("w", {4, 16});
    builder.node("first", "aten.linear.default", {value("input", "x"), value("weight", "v")})
        .type("first", {8, 16})
        .node("second", "aten.linear.default", {value("input", "first"), value("weight", "w")})
        .type("second", {8, 4})
        .output("second");
    ModelOptions options{.usesLibraries = true};
    const ModelFiles without = filesOf(builder.program(), options);
    EXPECT_FALSE(without.at("model.h").contains("needsFloat32"));
    EXPECT_TRUE(without.at("model_abi.cpp")
                    .contains("kernelskillModelNeedsFloat32(const char*)\n{\n    return 0;\n"));
    options.float32Nodes = {"second", "no node of it"};
    const ModelFiles files = filesOf(builder.program(), options);
    EXPECT_TRUE(files.at("model.h").contains("static bool needsFloat32(const char* node);"));
    EXPECT_TRUE(files.at("model.cpp").contains("return name == \"second\";"));
    EXPECT_TRUE(files.at("model_abi.cpp").contains("return Model::needsFloat32(node) ? 1 : 0;"));
    const std::string& inTorch = files.at("torch_operator.cpp");
    EXPECT_TRUE(inTorch.contains("if (name == \"second\") {\n            const WithoutTf32"));
    EXPECT_FALSE(inTorch.contains("if (name == \"first\") {\n            const WithoutTf32"));
    EXPECT_NE(without.at("model.cpp"), files.at("model.cpp")) << "times are kept by this text";
    const auto steps = nlohmann::json::parse(files.at("model.json")).at("steps");
    for (const auto& step : steps)
        EXPECT_EQ(step.at("needs_float32"), step.at("library") == "second");
}

TEST(ModelFiles, NameTheNodesOfALibraryThatAreInChannelsLastOrder) {
    ProgramBuilder builder;
    builder.input("x", {2, 8, 6, 6}).parameter("v", {8, 8, 1, 1}).parameter("w", {8, 8, 1, 1});
    builder.node("first", "aten.conv2d.default", {value("input", "x"), value("weight", "v")})
        .type("first", {2, 8, 6, 6})
        .node("second", "aten.conv2d.default", {value("input", "first"), value("weight", "w")})
        .type("second", {2, 8, 6, 6})
        .output("second");
    ModelOptions options{.usesLibraries = true};
    const ModelFiles without = filesOf(builder.program(), options);
    EXPECT_FALSE(without.at("model.h").contains("isChannelsLast"));
    EXPECT_TRUE(
        without.at("model_abi.cpp").contains("kernelskillModelAbi(void)\n{\n    return 1;"));
    EXPECT_TRUE(without.at("model_abi.cpp")
                    .contains("kernelskillModelChannelsLast(const char*)\n{\n    return 0;\n"));
    options.channelsLastNodes = {"second", "no node of it"};
    const ModelFiles files = filesOf(builder.program(), options);
    EXPECT_TRUE(files.at("model.h").contains("static bool isChannelsLast(const char* node);"));
    EXPECT_TRUE(files.at("model.cpp").contains("return name == \"second\";"));
    // A program that knows version 1 alone refuses the model.
    EXPECT_TRUE(files.at("model_abi.cpp").contains("kernelskillModelAbi(void)\n{\n    return 2;"));
    EXPECT_TRUE(files.at("model_abi.cpp").contains("return Model::isChannelsLast(node) ? 1 : 0;"));
    const std::string& inTorch = files.at("torch_operator.cpp");
    EXPECT_TRUE(inTorch.contains("{2, 6, 6, 8}, at::kFloat).movedim(-1, 1),")) << inTorch;
    EXPECT_TRUE(inTorch.contains("give(results.at(0).toTensor().movedim(1, -1), outputs[0]);"))
        << inTorch;
    EXPECT_TRUE(inTorch.contains("{2, 8, 6, 6}, at::kFloat),")) << "the first is as it was";
    for (const auto& step : nlohmann::json::parse(files.at("model.json")).at("steps"))
        if (step.contains("library"))
            EXPECT_EQ(step.at("channels_last"), step.at("library") == "second");
}

TEST(ModelFiles, KeepBuffersFromHavingTheNamesOfTheText) {
    ProgramBuilder builder;
    builder.input("float", {8})
        .input("stream", {8})
        .node("t0", "aten.add.Tensor", {value("self", "float"), value("other", "stream")})
        .type("t0", {8})
        .output("t0");
    const ModelFiles files = filesOf(builder.program());
    const std::string& header = files.at("kernels.h");
    EXPECT_TRUE(
        header.contains("const float* __restrict__ float_, const float* __restrict__ stream_"
                        ", float* __restrict__ t0_, cudaStream_t stream"))
        << header;
}

TEST(ModelFiles, HaveAKernelForEachStep) {
    // Both convolutions have weights to be packed, under one name at first.
    const auto graph = readProgram(sampleProgram("conv").archive);
    ASSERT_TRUE(graph) << graph.error().describe();
    const auto plan = plannedModel(*graph, "model", {});
    ASSERT_TRUE(plan) << plan.error().describe();
    std::set<std::string> names;
    for (const ModelStep& step : plan->steps)
        EXPECT_TRUE(names.insert(std::get<Kernel>(step.work).name).second);
}

TEST(ModelFiles, SayWhatIsLeftToALibrary) {
    const auto graph = readProgram(sampleProgram("mlp").archive);
    ASSERT_TRUE(graph) << graph.error().describe();
    const ModelFiles files =
        filesOf(*graph, {.usesLibraries = true, .kernels = {}, .notSimplified = {}});
    const auto json = nlohmann::json::parse(files.at(std::string(manifestName)));
    std::size_t left = 0;
    for (const auto& step : json.at("steps"))
        left += step.contains("library") ? 1U : 0U;
    EXPECT_GT(left, 0U);
    EXPECT_TRUE(files.at("torch_operator.cpp").contains("call(\"aten::linear\", \"\""));
    EXPECT_TRUE(files.at("model.h").contains("class Library"));
}

TEST(ModelFiles, PassDynamicSizes) {
    const auto graph = readProgram(sampleProgram("mlp-dynamic").archive);
    ASSERT_TRUE(graph) << graph.error().describe();
    const ModelFiles files = filesOf(*graph);
    EXPECT_TRUE(files.at("model.h").contains("struct Sizes {\n        long long s77 = 0;"));
    EXPECT_TRUE(files.at("model.h").contains("workspaceBytes(const Sizes& sizes)"));
}

TEST(ModelFiles, AreRefusedForMutations) {
    const auto folder = std::filesystem::path(paths::sourceFolder) / "tests/engine/graph/programs";
    const auto graph = readProgram(folder / "mutates.pt2");
    ASSERT_TRUE(graph) << graph.error().describe();
    const auto plan = plannedModel(*graph, "model", {});
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().kind, ErrorKind::Unsupported);
}

class WrittenModel : public ::testing::Test {
protected:
    kernelskill::testing::TemporaryFolder folder;
};

TEST_F(WrittenModel, ReplacesAnEarlierOne) {
    const auto target = folder.path() / "model";
    ASSERT_TRUE(writeModel({{"model.json", "{}"}, {"kernels/old.cu", "old"}}, target));
    ASSERT_TRUE(writeModel({{"model.json", "{}"}, {"kernels/new.cu", "new"}}, target));
    EXPECT_FALSE(std::filesystem::exists(target / "kernels/old.cu"));
    EXPECT_TRUE(std::filesystem::exists(target / "kernels/new.cu"));
    // Nothing stays beside it.
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST_F(WrittenModel, TakesANameWithASlash) {
    const auto target = folder.path() / "deep" / "model" / "";
    for (int round = 0; round < 2; ++round) {
        const auto written = writeModel({{"model.json", "{}"}}, target);
        ASSERT_TRUE(written) << written.error().describe();
        EXPECT_TRUE(std::filesystem::exists(target / "model.json"));
        EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path() / "deep"), {}),
                  1);
    }
}

TEST_F(WrittenModel, LeavesOtherFoldersAlone) {
    const auto target = folder.path() / "mine";
    std::filesystem::create_directory(target);
    std::ofstream(target / "notes.txt") << "mine";
    const auto written = writeModel({{"model.json", "{}"}}, target);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, ErrorKind::InvalidInput);
    EXPECT_TRUE(std::filesystem::exists(target / "notes.txt"));
    EXPECT_FALSE(std::filesystem::exists(target / "model.json"));
}

} // namespace
} // namespace kernelskill::engine::graph::testing
