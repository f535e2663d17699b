#include "tests/lsp-server/lsp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;

json at(int line, int character) {
    return {{"line", line}, {"character", character}};
}

json range(int line, int begin, int end) {
    return {{"start", at(line, begin)}, {"end", at(line, end)}};
}

const std::string kernel = "// é😀\n__global__ void k(int* p) { p[0] = 1; }\n";

class Synchronization : public ::testing::Test {
protected:
    void SetUp() override { client.initialize(); }

    LspClient client;
    TemporaryWorkspace workspace;
};

TEST_F(Synchronization, FollowsIncrementalChanges) {
    const std::string uri = workspace.uri("a.cu");
    client.open(uri, kernel);
    EXPECT_EQ(client.diagnostics(uri, 1), json::array());
    client.change(uri, 2, json::array({{{"range", range(1, 35, 36)}, {"text", "undeclared"}}}));
    const json broken = client.diagnostics(uri, 2);
    ASSERT_EQ(broken.size(), 1u);
    EXPECT_THAT(broken.at(0).at("message").get<std::string>(), HasSubstr("undeclared"));
    EXPECT_EQ(broken.at(0).at("source"), "kernelskill");
    EXPECT_FALSE(broken.at(0).at("code").get<std::string>().empty());
    EXPECT_EQ(broken.at(0).at("range"), range(1, 35, 45));
    client.change(uri, 3, json::array({{{"range", range(1, 35, 45)}, {"text", "2"}}}));
    EXPECT_EQ(client.diagnostics(uri, 3), json::array());
}

TEST_F(Synchronization, CountsUtf16BeforeAnError) {
    const std::string uri = workspace.uri("utf16.cu");
    client.open(uri, "__global__ void k(int* p) { /* 😀é */ undeclared = 1; }\n");
    const json diagnostics = client.diagnostics(uri, 1);
    ASSERT_EQ(diagnostics.size(), 1u);
    EXPECT_EQ(diagnostics.at(0).at("range"), range(0, 38, 48));
}

TEST_F(Synchronization, AHeaderInTheEditorCountsAndNotTheOneOnDisk) {
    workspace.write("value.cuh", "#define VALUE 1\n");
    const std::string uri = workspace.uri("main.cu");
    client.open(uri, "#include \"value.cuh\"\n__global__ void k(int* p) { p[0] = VALUE; }\n");
    EXPECT_EQ(client.diagnostics(uri, 1), json::array());
    // The snapshot tells which headers were read.
    client.call("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}});
    client.open(workspace.uri("value.cuh"), "#define VALUE undeclared\n");
    const json diagnostics = client.diagnostics(uri, 1);
    ASSERT_EQ(diagnostics.size(), 1u);
    EXPECT_THAT(diagnostics.at(0).at("message").get<std::string>(), HasSubstr("undeclared"));
}

TEST_F(Synchronization, ClosingClearsTheDiagnostics) {
    const std::string uri = workspace.uri("a.cu");
    client.open(uri, "__global__ void k() { undeclared(); }\n");
    EXPECT_FALSE(client.diagnostics(uri, 1).empty());
    client.notify("textDocument/didClose", {{"textDocument", {{"uri", uri}}}});
    const json cleared = client.notification("textDocument/publishDiagnostics");
    EXPECT_EQ(cleared.at("params").at("diagnostics"), json::array());
}

TEST_F(Synchronization, ReadsSeeTheNewestText) {
    const std::string uri = workspace.uri("a.cu");
    client.open(uri, kernel);
    for (int version = 2; version < 12; ++version) {
        const std::string name = "kernel" + std::to_string(version);
        client.change(
            uri, version,
            json::array({{{"text", "__global__ void " + name + "(int* p) { p[0] = 1; }\n"}}}));
        const json hover = client.call("textDocument/hover",
                                       {{"textDocument", {{"uri", uri}}}, {"position", at(0, 18)}});
        EXPECT_THAT(hover.dump(), HasSubstr(name));
    }
}

TEST_F(Synchronization, ABurstOfEditsEndsInTheDiagnosticsOfTheLast) {
    const std::string uri = workspace.uri("a.cu");
    std::mt19937 random(3);
    std::string text = kernel;
    client.open(uri, text);
    for (int version = 2; version <= 200; ++version) {
        const char inserted = static_cast<char>('a' + random() % 26);
        client.change(uri, version,
                      json::array({{{"range", range(2, version - 2, version - 2)},
                                    {"text", std::string(1, inserted)}}}));
    }
    const json diagnostics = client.diagnostics(uri, 200);
    ASSERT_FALSE(diagnostics.empty());
    EXPECT_EQ(diagnostics.at(0).at("range").at("start").at("line"), 2);
}

TEST_F(Synchronization, ContentModifiedWhenAnEditOvertakesARequest) {
    const std::string uri = workspace.uri("a.cu");
    client.open(uri, kernel);
    const int id = client.sendRequest(
        "textDocument/inlayHint", {{"textDocument", {{"uri", uri}}}, {"range", range(0, 0, 1)}});
    client.change(uri, 2, json::array({{{"text", kernel + "\n"}}}));
    const json response = client.response(id);
    // The parse may have been quicker than the edit.
    if (response.contains("error"))
        EXPECT_EQ(response.at("error").at("code"), -32801);
    else
        EXPECT_TRUE(response.at("result").is_array());
}

TEST_F(Synchronization, CancelledRequestsAreAnsweredAsCancelled) {
    const std::string uri = workspace.uri("a.cu");
    client.open(uri, kernel);
    const int id = client.sendRequest("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}});
    client.notify("$/cancelRequest", {{"id", id}});
    // Sent right behind a document that is not parsed yet, the request cannot have been answered.
    EXPECT_EQ(client.response(id).at("error").at("code"), -32800);
}

TEST_F(Synchronization, FilesOfOtherLanguagesAreLeftAlone) {
    const std::string uri = workspace.uri("plain.cpp");
    client.open(uri, "this is no CUDA", 1, "cpp");
    const json response = client.call("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}});
    EXPECT_THAT(response.at("error").at("message").get<std::string>(), HasSubstr("not CUDA"));
}

TEST_F(Synchronization, AnUntitledDocumentIsParsed) {
    client.open("untitled:Untitled-1", "__global__ void k() { undeclared(); }\n");
    EXPECT_EQ(client.diagnostics("untitled:Untitled-1", 1).size(), 1u);
}

} // namespace
} // namespace kernelskill::lsp::testing
