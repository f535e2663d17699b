// Hazards over the wire: reported with both sides, offered a fix, fixed.
#include "tests/lsp-server/features/sample_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;

constexpr Milliseconds runTime{120000};

const std::string race = "__global__ void mirror(const float* in, float* out) {\n"
                         "    __shared__ float tile[128];\n"
                         "    tile[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];\n"
                         "    out[blockIdx.x * 128 + threadIdx.x] = tile[127 - threadIdx.x];\n"
                         "}\n"
                         "void launch(const float* in, float* out) {\n"
                         "    mirror<<<4, 128>>>(in, out);\n"
                         "}\n";

/// `text` after `edits` of a document change.
std::string applied(const std::string& text, json edits) {
    const auto offsetOf = [&](const json& place) {
        std::size_t offset = 0;
        for (int line = place.at("line"); line > 0; --line)
            offset = text.find('\n', offset) + 1;
        return offset + place.at("character").get<std::size_t>();
    };
    std::string result = text;
    std::ranges::reverse(edits); // The last place first, so that the others stay where they are.
    for (const json& edit : edits) {
        const std::size_t begin = offsetOf(edit.at("range").at("start"));
        result.replace(begin, offsetOf(edit.at("range").at("end")) - begin,
                       edit.at("newText").get<std::string>());
    }
    return result;
}

class HazardFixes : public ::testing::Test {
protected:
    void start(const json& capabilities = editorCapabilities()) {
        client.initialize({{"capabilities", capabilities}, {"rootUri", workspace.uri()}});
    }

    json hazards(const std::string& kernel) {
        const json report = client.call(
            "kernelskill/profile", {{"textDocument", {{"uri", uri}}}, {"kernel", kernel}}, runTime);
        EXPECT_TRUE(report.contains("result")) << report;
        return report.contains("result") ? report.at("result").at("hazards") : json::array();
    }

    /// The hazards among the next diagnostics that hold one.
    json published(const std::string& code) {
        json found = json::array();
        (void)client.waitFor([&](const json& message) {
            if (message.value("method", "") != "textDocument/publishDiagnostics")
                return false;
            for (const json& diagnostic : message.at("params").at("diagnostics")) {
                if (diagnostic.value("code", "") == code)
                    found.push_back(diagnostic);
            }
            return !found.empty();
        });
        return found;
    }

    json fixesFor(const json& diagnostic, int triggerKind = 1) {
        return client
            .call("textDocument/codeAction",
                  {{"textDocument", {{"uri", uri}}},
                   {"range", diagnostic.at("range")},
                   {"context",
                    {{"diagnostics", json::array({diagnostic})},
                     {"only", {"quickfix"}},
                     {"triggerKind", triggerKind}}}},
                  runTime)
            .at("result");
    }

    LspClient client;
    TemporaryWorkspace workspace;
    std::string uri = workspace.uri("sample.cu");
};

TEST_F(HazardFixes, AreOfferedVerifiedAndEndTheHazard) {
    start();
    client.open(uri, race, 3);
    ASSERT_EQ(hazards("mirror").size(), 1u);
    const json diagnostics = published("race");
    ASSERT_EQ(diagnostics.size(), 1u);
    const json& diagnostic = diagnostics.at(0);
    EXPECT_EQ(diagnostic.at("severity"), 1);
    EXPECT_EQ(diagnostic.at("range").at("start").at("line"), 3);
    // The other side, with its thread.
    const json& other = diagnostic.at("relatedInformation").at(0);
    EXPECT_EQ(other.at("location").at("range").at("start").at("line"), 2);
    EXPECT_THAT(other.at("message").get<std::string>(), HasSubstr("of block (0,0,0)"));

    const json fixes = fixesFor(diagnostic);
    ASSERT_EQ(fixes.size(), 1u);
    const json& fix = fixes.at(0);
    EXPECT_EQ(fix.at("title"), "Fix race: insert '__syncthreads();' before line 4");
    EXPECT_EQ(fix.at("kind"), "quickfix");
    EXPECT_EQ(fix.at("isPreferred"), true);
    EXPECT_EQ(fix.at("diagnostics"), diagnostics);
    EXPECT_FALSE(fix.contains("edit")) << "edits come by resolve";

    const json resolved = client.call("codeAction/resolve", fix);
    ASSERT_TRUE(resolved.contains("result")) << resolved;
    const json& change = resolved.at("result").at("edit").at("documentChanges").at(0);
    EXPECT_EQ(change.at("textDocument"), (json{{"uri", uri}, {"version", 3}}));
    const std::string fixed = applied(race, change.at("edits"));
    EXPECT_THAT(fixed, HasSubstr("threadIdx.x];\n    __syncthreads();\n    out["));
    client.change(uri, 4, json::array({{{"text", fixed}}}));
    EXPECT_EQ(hazards("mirror"), json::array());
}

TEST_F(HazardFixes, AreFoundFromTheOtherSideToo) {
    start();
    client.open(uri, race);
    hazards("mirror");
    const json diagnostics = published("race");
    ASSERT_EQ(diagnostics.size(), 1u);
    const json atOther = {
        {"range", diagnostics.at(0).at("relatedInformation").at(0).at("location").at("range")}};
    EXPECT_EQ(fixesFor(atOther).size(), 1u);
}

TEST_F(HazardFixes, AreNotWaitedForWhileTheCursorMoves) {
    start();
    client.open(uri, race);
    hazards("mirror");
    const json diagnostics = published("race");
    ASSERT_EQ(diagnostics.size(), 1u);
    // Whether the search is over by now or not: the answer comes at once, and again once it is.
    const json early = fixesFor(diagnostics.at(0), 2);
    EXPECT_LE(early.size(), 1u);
    EXPECT_EQ(fixesFor(diagnostics.at(0)).size(), 1u);
    EXPECT_EQ(fixesFor(diagnostics.at(0), 2).size(), 1u);
}

TEST_F(HazardFixes, OfAnOldVersionAreRefused) {
    start();
    client.open(uri, race);
    hazards("mirror");
    const json diagnostics = published("race");
    ASSERT_EQ(diagnostics.size(), 1u);
    const json fixes = fixesFor(diagnostics.at(0));
    ASSERT_EQ(fixes.size(), 1u);
    client.change(uri, 2, json::array({{{"text", "// first\n" + race}}}));
    EXPECT_EQ(client.call("codeAction/resolve", fixes.at(0)).at("error").at("code"), -32801);
    // The hazard and its fix have moved with the kernel: nothing has to be run again.
    json moved = diagnostics.at(0);
    moved["range"]["start"]["line"] = 4;
    moved["range"]["end"]["line"] = 4;
    EXPECT_EQ(fixesFor(moved, 2).size(), 1u);
}

TEST_F(HazardFixes, ClientsWithoutResolveGetTheEditAtOnce) {
    json capabilities = editorCapabilities();
    capabilities["textDocument"]["codeAction"].erase("resolveSupport");
    start(capabilities);
    client.open(uri, race);
    hazards("mirror");
    const json diagnostics = published("race");
    ASSERT_EQ(diagnostics.size(), 1u);
    const json fixes = fixesFor(diagnostics.at(0));
    ASSERT_EQ(fixes.size(), 1u);
    EXPECT_THAT(applied(race, fixes.at(0).at("edit").at("documentChanges").at(0).at("edits")),
                HasSubstr("__syncthreads();"));
}

TEST_F(HazardFixes, AreNotOfferedWhereNothingIsSure) {
    start();
    const std::string text = "__global__ void last(int* out) {\n"
                             "    __shared__ int winner;\n"
                             "    winner = threadIdx.x;\n"
                             "    __syncthreads();\n"
                             "    out[threadIdx.x] = winner;\n"
                             "}\n"
                             "void launch(int* out) { last<<<1, 128>>>(out); }\n";
    client.open(uri, text);
    hazards("last");
    const json diagnostics = published("race");
    ASSERT_EQ(diagnostics.size(), 1u);
    EXPECT_EQ(fixesFor(diagnostics.at(0)), json::array());
}

TEST_F(HazardFixes, ARepairOfTheFileAppliesThem) {
    start();
    client.open(uri, race);
    const json result = client.call(
        "workspace/executeCommand",
        {{"command", "kernelskill.repair"}, {"arguments", json::array({{{"uri", uri}}})}}, runTime);
    ASSERT_TRUE(result.contains("result")) << result;
    EXPECT_EQ(result.at("result").at("status"), "repaired");
    EXPECT_EQ(result.at("result").at("applied"), true);
    EXPECT_EQ(result.at("result").at("diagnosis").at("fixes").at(0).at("cause"), "race");
}

TEST_F(HazardFixes, OnTheCommandLineAreWrittenOnRequest) {
    const std::string path = workspace.write("race.cu", race);
    const CommandResult shown = runKernelskill({"repair", path, "--json"});
    ASSERT_EQ(shown.status, 0) << shown.errors;
    const json report = json::parse(shown.output);
    EXPECT_EQ(report.at("status"), "repaired");
    EXPECT_EQ(report.at("diagnosis").at("hazards_before"), 1);
    EXPECT_EQ(report.at("diagnosis").at("hazards_after"), 0);
    EXPECT_EQ(report.at("edits").size(), 1u);
    ASSERT_EQ(runKernelskill({"repair", path, "--write"}).status, 0);
    std::ostringstream written;
    written << std::ifstream(path).rdbuf();
    EXPECT_THAT(written.str(), HasSubstr("__syncthreads();"));
    const CommandResult again = runKernelskill({"repair", path, "--json"});
    EXPECT_EQ(again.status, 1);
    EXPECT_EQ(json::parse(again.output).at("status"), "clean");
}

TEST_F(HazardFixes, AProfileNamesBothSidesInItsJsonAndItsText) {
    const std::string path = workspace.write("race.cu", race);
    const json hazard = json::parse(runKernelskill({"profile", path, "--json"}).output)
                            .at("kernels")
                            .at(0)
                            .at("hazards")
                            .at(0);
    EXPECT_EQ(hazard.at("line"), 3);
    EXPECT_EQ(hazard.at("block"), (json{0, 0, 0}));
    EXPECT_EQ(hazard.at("thread").size(), 3u);
    EXPECT_EQ(hazard.at("other").at("line"), 2);
    EXPECT_EQ(hazard.at("other").at("block"), (json{0, 0, 0}));
    EXPECT_NE(hazard.at("other").at("thread"), hazard.at("thread"));
    const std::string text = runKernelskill({"profile", path}).output;
    EXPECT_THAT(text, HasSubstr("4 | out[blockIdx.x * 128 + threadIdx.x] ="));
    EXPECT_THAT(text, HasSubstr("3 | tile[threadIdx.x] ="));
}

} // namespace
} // namespace kernelskill::lsp::testing
