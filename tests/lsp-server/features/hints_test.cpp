#include "tests/lsp-server/features/sample_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;

const json wholeFile{{"start", {{"line", 0}, {"character", 0}}},
                     {"end", {{"line", 9999}, {"character", 0}}}};

class Hints : public ::testing::Test {
protected:
    void SetUp() override {
        client.initialize();
        client.open(uri, transpose);
    }

    json inlayHints(const json& range) {
        return client
            .call("textDocument/inlayHint", {{"textDocument", {{"uri", uri}}}, {"range", range}})
            .at("result");
    }

    json lenses() {
        return client.call("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}})
            .at("result");
    }

    LspClient client;
    TemporaryWorkspace workspace;
    std::string uri = workspace.uri("transpose.cu");
};

TEST_F(Hints, AreShownOnlyWhereAnAccessCostsMoreThanTheMinimum) {
    const json hints = inlayHints(wholeFile);
    ASSERT_EQ(hints.size(), 1u) << hints.dump(1);
    EXPECT_EQ(hints.at(0).at("label"), "32-way bank conflict");
    EXPECT_EQ(hints.at(0).at("position"),
              placeOf(transpose, "tile[threadIdx.x][threadIdx.y];",
                      static_cast<int>(std::string("tile[threadIdx.x][threadIdx.y]").size())));
}

TEST_F(Hints, SayWhatWasCountedOnceTheKernelWasProfiled) {
    const json report = client.call("kernelskill/profile",
                                    {{"textDocument", {{"uri", uri}}}, {"kernel", "transpose"}},
                                    Milliseconds(60000));
    ASSERT_TRUE(report.contains("result")) << report.dump(1);
    const json hints = inlayHints(wholeFile);
    ASSERT_EQ(hints.size(), 1u) << hints.dump(1); // In place of the text's expectation.
    EXPECT_EQ(hints.at(0).at("label"), "bank conflicts: 32 times the wavefronts");
    EXPECT_EQ(hints.at(0).at("position"),
              placeOf(transpose, "tile[threadIdx.x][threadIdx.y];",
                      static_cast<int>(std::string("tile[threadIdx.x][threadIdx.y];").size())));
    EXPECT_THAT(hints.at(0).at("tooltip").dump(), HasSubstr("bank-conflicts"));
}

TEST_F(Hints, NameALineWhoseWaitIsNoAccess) {
    const std::string text = "__global__ void count(int* total) {\n"
                             "    atomicAdd(total, 1);\n"
                             "}\n";
    const std::string other = workspace.uri("count.cu");
    client.open(other, text);
    const json hints = client
                           .call("textDocument/inlayHint",
                                 {{"textDocument", {{"uri", other}}}, {"range", wholeFile}})
                           .at("result");
    ASSERT_EQ(hints.size(), 1u) << hints.dump(1);
    EXPECT_EQ(hints.at(0).at("label"), "all lanes on one address");
    EXPECT_EQ(hints.at(0).at("position"), placeOf(text, "1);", 3));
}

TEST_F(Hints, StayInsideTheRange) {
    EXPECT_EQ(inlayHints({{"start", {{"line", 0}, {"character", 0}}},
                          {"end", {{"line", 4}, {"character", 0}}}}),
              json::array());
}

TEST_F(Hints, ALensOverTheKernelIsResolvedToItsBottleneck) {
    const json unresolved = lenses();
    ASSERT_EQ(unresolved.size(), 4u);
    EXPECT_FALSE(unresolved.at(0).contains("command")) << "work before it is in view";
    const json lens = client.call("codeLens/resolve", unresolved.at(0)).at("result");
    EXPECT_THAT(lens.at("command").at("title").get<std::string>(), HasSubstr("bank-conflicts"));
    EXPECT_EQ(lens.at("range").at("start").at("line"), 1);
}

TEST_F(Hints, LensesOfferToProfileAndToApplyTheBestSkill) {
    const json unresolved = lenses();
    const json profile =
        client.call("codeLens/resolve", unresolved.at(2)).at("result").at("command");
    EXPECT_EQ(profile.at("command"), "kernelskill.profile");
    EXPECT_EQ(profile.at("arguments").at(0).at("kernel"), "transpose");
    const json skill = client.call("codeLens/resolve", unresolved.at(3)).at("result").at("command");
    EXPECT_EQ(skill.at("command"), "kernelskill.applySkill");
    EXPECT_EQ(skill.at("arguments").at(0).at("skill"), "shared-memory-padding");
}

TEST_F(Hints, ALensOffersNoEditThatNoRunCanCheck) {
    const std::string other = workspace.uri("rows.cu");
    client.open(other, transposeWithoutLaunch());
    const json unresolved =
        client.call("textDocument/codeLens", {{"textDocument", {{"uri", other}}}}).at("result");
    ASSERT_EQ(unresolved.size(), 4u);
    const json skill = client.call("codeLens/resolve", unresolved.at(3)).at("result").at("command");
    EXPECT_EQ(skill.at("title"), "Edits unverifiable");
    EXPECT_EQ(skill.at("command"), "kernelskill.explain");
}

TEST_F(Hints, ALensStartsTheSearchForAFasterKernel) {
    const json optimize =
        client.call("codeLens/resolve", lenses().at(1)).at("result").at("command");
    EXPECT_EQ(optimize.at("title"), "Optimize");
    EXPECT_EQ(optimize.at("command"), "kernelskill.optimize");
    EXPECT_EQ(optimize.at("arguments"), (json::array({{{"uri", uri}, {"kernel", "transpose"}}})));
}

TEST_F(Hints, ALensNeverOffersGoodPracticeAsAnAnswer) {
    const std::string other = workspace.uri("tidy.cu");
    const std::string text = "__global__ void k(float4* out, const float4* in, int n) {\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n)\n        out[i] = in[i];\n}\n"
                             "void run(float4* a, float4* b) { k<<<999, 256>>>(a, b, 9); }\n";
    client.open(other, text);
    const json unresolved =
        client.call("textDocument/codeLens", {{"textDocument", {{"uri", other}}}}).at("result");
    const auto titleOf = [&](const char* what) {
        const auto lens = std::ranges::find_if(
            unresolved, [&](const json& one) { return one.at("data").at("what") == what; });
        return client.call("codeLens/resolve", *lens).at("result").at("command").at("title");
    };
    EXPECT_EQ(titleOf("bottleneck"), "bandwidth · at its limit");
    EXPECT_EQ(titleOf("skill"), "No skill answers it");
}

TEST_F(Hints, TheLensesOfAKernelHaveAtMostSixtyCharacters) {
    const auto line = [&] {
        std::string titles;
        for (const json& lens : lenses())
            titles += client.call("codeLens/resolve", lens)
                          .at("result")
                          .at("command")
                          .at("title")
                          .get<std::string>() +
                      "|";
        return titles;
    };
    EXPECT_EQ(line(), "bank-conflicts · high headroom|Optimize|Profile|Apply: pad rows|");
    ASSERT_TRUE(client
                    .call("kernelskill/profile",
                          {{"textDocument", {{"uri", uri}}}, {"kernel", "transpose"}},
                          Milliseconds(60000))
                    .contains("result"));
    // Separators are no characters of a title; the sign of the factor and the dot have two bytes.
    const std::string profiled = line();
    EXPECT_THAT(profiled, ::testing::MatchesRegex("bank-conflicts · [0-9.]+×( headroom)?\\|"
                                                  "Optimize\\|Profile\\|Apply: pad rows\\|"));
    EXPECT_LE(profiled.size(), 60U + 4U + 2U) << profiled;
}

TEST_F(Hints, AKernelWithAnErrorIsNotToBeOptimized) {
    std::string broken = transpose;
    broken.replace(broken.find("__syncthreads();"), 16, "__syncthreads()");
    client.change(uri, 2, json::array({{{"text", broken}}}));
    for (const json& lens : lenses())
        EXPECT_NE(lens.at("data").at("what"), "optimize");
}

TEST_F(Hints, WhereKernelsMayNotBeRunTheBottleneckIsAllThatALensSays) {
    client.notify("workspace/didChangeConfiguration",
                  {{"settings", {{"kernelskill", {{"execution", {{"enabled", false}}}}}}}});
    const json readOnly = lenses();
    ASSERT_EQ(readOnly.size(), 1u) << readOnly.dump(1);
    EXPECT_EQ(readOnly.at(0).at("data").at("what"), "bottleneck");
}

TEST_F(Hints, ALensOfAKernelThatIsGoneHasNoTitle) {
    const json unresolved = lenses();
    client.change(uri, 2, json::array({{{"text", "// empty\n"}}}));
    const json lens = client.call("codeLens/resolve", unresolved.at(0)).at("result");
    EXPECT_EQ(lens.at("command").at("title"), "");
}

} // namespace
} // namespace kernelskill::lsp::testing
