// `kernelskill graph`: what it prints, as text and as JSON, and what it refuses.
#include "tests/lsp-server/features/sample_files.h"
#include "tests/lsp-server/lsp_client.h"
#include "tests/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string archiveOf(const std::string& name) {
    return std::string(paths::sourceFolder) + "/tests/engine/graph/programs/" + name;
}

TEST(GraphCommand, PrintsALineForEachNode) {
    const CommandResult result = runKernelskill({"graph", archiveOf("mlp-dynamic.pt2")});
    ASSERT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(
        result.output,
        AllOf(HasSubstr("torch 2.11.0+cu130, schema 8.17\n"),
              HasSubstr("symbols\n  s77 2 ... 4096\n"), HasSubstr("inputs\n  x float32[s77, 64]\n"),
              HasSubstr("outputs\n  softmax float32[s77, 10]\n"),
              HasSubstr("weights: 6 tensors, 29608 bytes\n"),
              HasSubstr("nodes: 5\n"
                        "  linear     aten.linear.default     float32[s77, 96] a x, p_a_weight"),
              HasSubstr("\n  softmax    aten.softmax.int        float32[s77, 10] - linear_1, "
                        "dim=-1\n"),
              HasSubstr("limitations: none\n")));
}

TEST(GraphCommand, PrintsWhatIsNotTaken) {
    const CommandResult result = runKernelskill({"graph", archiveOf("mutates.pt2")});
    ASSERT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output,
                HasSubstr("limitations: 1\n"
                          "  node 'add_' (aten.add_.Tensor) mutates the buffer 'seen'\n"));
}

TEST(GraphCommand, PrintsJson) {
    const CommandResult result = runKernelskill({"graph", archiveOf("control-flow.pt2"), "--json"});
    ASSERT_EQ(result.status, 0) << result.errors;
    const json document = json::parse(result.output);
    EXPECT_EQ(document.at("torch"), "2.11.0+cu130");
    EXPECT_EQ(document.at("weights").at("bytes"), 0);
    const json& input = document.at("inputs").at(0);
    EXPECT_EQ(input.at("name"), "x");
    EXPECT_EQ(input.at("kind"), "user");
    EXPECT_EQ(input.at("sizes"), json::parse("[5]"));
    const json& cond = document.at("nodes").at(2);
    EXPECT_EQ(cond.at("operator"), "higher_order.cond");
    EXPECT_EQ(cond.at("results").at(0).at("element"), "float32");
    const json& limitation = document.at("limitations").at(2);
    EXPECT_EQ(limitation.at("kind"), "control-flow");
    EXPECT_EQ(limitation.at("node"), "cond");
}

TEST(GraphCommand, PrintsLoopsOverElements) {
    const CommandResult result = runKernelskill({"graph", archiveOf("mlp.pt2"), "--raised"});
    ASSERT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output,
                AllOf(HasSubstr("input float x["), HasSubstr("output float softmax["),
                      HasSubstr("contraction linear for [i0<"),
                      HasSubstr("acc0 = sum mul(x[i0, k], p_a_weight[i1, k])\n")));
    const CommandResult lstm = runKernelskill({"graph", archiveOf("lstm.pt2"), "--raised"});
    EXPECT_THAT(lstm.output, HasSubstr("library lstm: recurrent layers run step by step"));
    EXPECT_EQ(runKernelskill({"graph", archiveOf("mlp.pt2"), "--raised", "--json"}).status, 2);
}

TEST(GraphCommand, PrintsLoopsPutTogetherAndSimplified) {
    const CommandResult fused = runKernelskill({"graph", archiveOf("mlp.pt2"), "--fused"});
    ASSERT_EQ(fused.status, 0) << fused.errors;
    EXPECT_THAT(fused.output, HasSubstr("= add(acc0, p_a_bias[i1])\n"));
    const CommandResult simplified =
        runKernelskill({"graph", archiveOf("conv.pt2"), "--simplified"});
    ASSERT_EQ(simplified.status, 0) << simplified.errors;
    EXPECT_THAT(simplified.output, HasSubstr("contraction "));
    EXPECT_EQ(runKernelskill({"graph", archiveOf("mlp.pt2"), "--fused", "--json"}).status, 2);
}

TEST(GraphCommand, RefusesWhatItCannotRead) {
    TemporaryWorkspace workspace;
    EXPECT_EQ(runKernelskill({"graph"}).status, 2);
    EXPECT_EQ(runKernelskill({"graph", workspace.path("none.pt2")}).status, 2);
    std::ifstream stream(archiveOf("mlp.pt2"), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(stream), {}};
    const std::string cut = workspace.write("cut.pt2", whole.substr(0, whole.size() / 2));
    const CommandResult result = runKernelskill({"graph", cut});
    EXPECT_EQ(result.status, 2);
    EXPECT_TRUE(result.output.empty());
    EXPECT_THAT(result.errors, AllOf(HasSubstr("no zip archive, or one that is cut off"),
                                     HasSubstr("at: " + cut), HasSubstr("torch.export.save")));
    const CommandResult asJson = runKernelskill({"graph", cut, "--json"});
    EXPECT_EQ(asJson.status, 2);
    EXPECT_TRUE(json::parse(asJson.output).contains("error")) << asJson.output;
}

} // namespace
} // namespace kernelskill::lsp::testing
