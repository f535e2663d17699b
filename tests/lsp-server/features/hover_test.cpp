#include "tests/lsp-server/features/sample_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Hover : public ::testing::Test {
protected:
    void SetUp() override {
        client.initialize();
        client.open(uri, transpose);
    }

    json hoverAt(const std::string& needle, int into = 0) {
        return client
            .call("textDocument/hover", {{"textDocument", {{"uri", uri}}},
                                         {"position", placeOf(transpose, needle, into)}})
            .at("result");
    }

    std::string textAt(const std::string& needle, int into = 0) {
        const json result = hoverAt(needle, into);
        return result.is_null() ? "" : result.at("contents").at("value").get<std::string>();
    }

    LspClient client;
    TemporaryWorkspace workspace;
    std::string uri = workspace.uri("transpose.cu");
};

TEST_F(Hover, OnAKernelSaysWhatHoldsItBack) {
    const json result = hoverAt("transpose(", 2);
    EXPECT_EQ(result.at("contents").at("kind"), "markdown");
    EXPECT_THAT(result.at("contents").at("value").get<std::string>(),
                AllOf(HasSubstr("`transpose` · bank-conflicts"), HasSubstr("shared memory"),
                      HasSubstr("4096 bytes")));
    EXPECT_EQ(result.at("range").at("start"), placeOf(transpose, "transpose("));
}

TEST_F(Hover, OnASharedReadSaysTheConflictDegree) {
    EXPECT_THAT(textAt("tile[threadIdx.x][threadIdx.y]", 3),
                AllOf(HasSubstr("shared read"), HasSubstr("32-way bank conflict")));
}

TEST_F(Hover, KeepsTheOperatorsOfIndexExpressions) {
    EXPECT_THAT(textAt("tile[threadIdx.x][threadIdx.y]", 3),
                AllOf(HasSubstr("indexed by `32*threadIdx.x + threadIdx.y`"),
                      HasSubstr("index: `32*threadIdx.x + threadIdx.y`")));
    EXPECT_THAT(textAt("transpose(", 2), HasSubstr("`32*threadIdx.x + threadIdx.y`"));
}

TEST_F(Hover, OnAConflictFreeWriteSaysSo) {
    EXPECT_THAT(textAt("tile[threadIdx.y][threadIdx.x]", 3),
                AllOf(HasSubstr("shared write"), HasSubstr("No bank conflict")));
}

TEST_F(Hover, OnAGlobalReadSaysSectorsPerRequest) {
    EXPECT_THAT(textAt("in[y * width + x]", 1),
                AllOf(HasSubstr("global read"), HasSubstr("4 sectors per request"),
                      HasSubstr("coalesced")));
}

TEST_F(Hover, AfterAProfileSaysWhatWasCountedOnTheLineAndWhatAFixMayBring) {
    const json report = client.call("kernelskill/profile",
                                    {{"textDocument", {{"uri", uri}}}, {"kernel", "transpose"}},
                                    Milliseconds(60000));
    ASSERT_TRUE(report.contains("result")) << report.dump(1);
    EXPECT_THAT(textAt("tile[threadIdx.x][threadIdx.y]", 3),
                HasSubstr("Counted on this line: 32 wavefronts per shared load (256 requests)"));
    EXPECT_THAT(textAt("transpose(", 2),
                AllOf(HasSubstr("× headroom"), HasSubstr("- the headroom is a model's: ")));
}

TEST_F(Hover, OnALineThatHoldsTheKernelBackSaysWhy) {
    const std::string text = "__global__ void wait(float* x) {\n"
                             "    __shared__ float s[64];\n"
                             "    s[threadIdx.x] = x[threadIdx.x];\n"
                             "    for (int i = 0; i < 32; ++i) {\n"
                             "        __syncthreads();\n"
                             "        s[threadIdx.x] += 1.0f;\n"
                             "        __syncthreads();\n"
                             "    }\n"
                             "    x[threadIdx.x] = s[threadIdx.x];\n"
                             "}\n";
    const std::string other = workspace.uri("wait.cu");
    client.open(other, text);
    const json result = client
                            .call("textDocument/hover", {{"textDocument", {{"uri", other}}},
                                                         {"position", placeOf(text, "for (int")}})
                            .at("result");
    ASSERT_FALSE(result.is_null());
    EXPECT_THAT(result.at("contents").at("value").get<std::string>(),
                AllOf(HasSubstr("**synchronization**"), HasSubstr("per barrier")));
}

TEST_F(Hover, OnALaunchShowsTheSizes) {
    EXPECT_THAT(textAt("transpose<<<", 2),
                AllOf(HasSubstr("grid 4×2"), HasSubstr("block 32×32"), HasSubstr("evaluated")));
}

TEST_F(Hover, ElsewhereLeavesItToClangd) {
    EXPECT_TRUE(hoverAt("int x =").is_null());
    EXPECT_TRUE(hoverAt("#define").is_null());
}

TEST_F(Hover, IsPlainForClientsWithoutMarkdown) {
    LspClient plain;
    plain.initialize({{"capabilities", json::object()}});
    plain.open(uri, transpose);
    const json result =
        plain.call("textDocument/hover", {{"textDocument", {{"uri", uri}}},
                                          {"position", placeOf(transpose, "transpose(", 1)}});
    EXPECT_EQ(result.at("result").at("contents").at("kind"), "plaintext");
}

TEST_F(Hover, SaysWhatWouldHelpAndWhyNothingIsOffered) {
    const std::string text =
        "__global__ void sum(const float* __restrict__ x, float* __restrict__ total) {\n"
        "    atomicAdd(total, x[blockIdx.x * blockDim.x + threadIdx.x]);\n"
        "}\n";
    const std::string other = workspace.uri("sum.cu");
    client.open(other, text);
    const json result = client
                            .call("textDocument/hover", {{"textDocument", {{"uri", other}}},
                                                         {"position", placeOf(text, "sum(")}})
                            .at("result");
    const auto hover = result.at("contents").at("value").get<std::string>();
    EXPECT_THAT(hover, AllOf(HasSubstr("synchronization"), HasSubstr("**What would help**"),
                             HasSubstr("- **block-reduction**: Reduce within the block before"),
                             HasSubstr("not offered: no-launch"),
                             HasSubstr("**Why is nothing offered?**"), HasSubstr("no-loop")));
}

TEST_F(Hover, SaysEachFactOnceTheRemedyBeforeTheEvidence) {
    ASSERT_TRUE(client
                    .call("kernelskill/profile",
                          {{"textDocument", {{"uri", uri}}}, {"kernel", "transpose"}},
                          Milliseconds(60000))
                    .contains("result"));
    const std::string text = textAt("transpose(", 2);
    const auto remedy = text.find("- Pad the rows of shared array tile by 1");
    const auto counters = text.find("| counter |");
    ASSERT_NE(remedy, std::string::npos) << text;
    ASSERT_NE(counters, std::string::npos) << text;
    EXPECT_LT(remedy, counters) << text;
    for (const char* fact : {"× headroom", "at least ", "4096 bytes"}) {
        const auto first = text.find(fact);
        EXPECT_NE(first, std::string::npos) << fact << "\n" << text;
        EXPECT_EQ(text.find(fact, first + 1), std::string::npos) << fact << "\n" << text;
    }
    EXPECT_EQ(text.find("<details>"), std::string::npos) << "only where it is drawn";
}

TEST_F(Hover, FoldsTheEvidenceWhereTheEditorDrawsThat) {
    json capabilities = editorCapabilities();
    capabilities["experimental"]["kernelskill"]["foldedHover"] = true;
    LspClient folding;
    folding.initialize({{"capabilities", capabilities}});
    folding.open(uri, transpose);
    const auto text =
        folding
            .call("textDocument/hover", {{"textDocument", {{"uri", uri}}},
                                         {"position", placeOf(transpose, "transpose(", 1)}})
            .at("result")
            .at("contents")
            .at("value")
            .get<std::string>();
    const auto fold = text.find("<details><summary>Evidence</summary>\n\n");
    ASSERT_NE(fold, std::string::npos) << text;
    EXPECT_LT(text.find("- Pad the rows"), fold);
    EXPECT_GT(text.find("- launch: "), fold);
    EXPECT_TRUE(text.ends_with("</details>"));
}

TEST_F(Hover, SaysWhyNoEditCanBeChecked) {
    const std::string text = transposeWithoutLaunch();
    const std::string other = workspace.uri("rows.cu");
    client.open(other, text);
    const json hover = client
                           .call("textDocument/hover", {{"textDocument", {{"uri", other}}},
                                                        {"position", placeOf(text, "transpose(")}})
                           .at("result");
    EXPECT_THAT(hover.at("contents").at("value").get<std::string>(),
                AllOf(HasSubstr("**Why is nothing applied?**"),
                      HasSubstr("No run can check an edit of this kernel: parameter 'rows'")));
    EXPECT_THAT(textAt("transpose(", 2), ::testing::Not(HasSubstr("Why is nothing applied?")));
}

TEST_F(Hover, SaysWhatIsNotAutomated) {
    const std::string text =
        "__global__ void scatter(const int* __restrict__ target, float* __restrict__ sums) {\n"
        "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    atomicAdd(&sums[target[i]], 1.0f);\n"
        "}\n";
    const std::string other = workspace.uri("scatter.cu");
    client.open(other, text);
    const json result = client
                            .call("textDocument/hover", {{"textDocument", {{"uri", other}}},
                                                         {"position", placeOf(text, "scatter(")}})
                            .at("result");
    EXPECT_THAT(result.at("contents").at("value").get<std::string>(),
                AllOf(HasSubstr("- **binning**: "), HasSubstr("not automated here")));
}

} // namespace
} // namespace kernelskill::lsp::testing
