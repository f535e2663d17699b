// The server's memory when the disk or the process gives way.
#include "tests/lsp-server/features/sample_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr Milliseconds reviewTime{60000};

/// The action that pads the tile of `transpose`.
json padding(LspClient& client, const std::string& uri) {
    const json actions =
        client
            .call("textDocument/codeAction",
                  {{"textDocument", {{"uri", uri}}},
                   {"range", pointRange(placeOf(transpose, "tile[threadIdx.x][threadIdx.y]", 1))},
                   {"context",
                    {{"diagnostics", json::array()},
                     {"only", {"refactor.rewrite.shared-memory-padding"}}}}})
            .value("result", json::array());
    return actions.empty() ? json() : actions.at(0);
}

class Memory : public ::testing::Test {
protected:
    void start(LspClient& client) const {
        client.initialize({{"capabilities", editorCapabilities()}, {"rootUri", workspace.uri()}});
        client.open(uri, transpose);
    }

    [[nodiscard]] json shown(LspClient& client) const {
        return client.call("kernelskill/memory", {{"textDocument", {{"uri", uri}}}}).at("result");
    }

    [[nodiscard]] std::string stored() const {
        std::ifstream stream(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    TemporaryWorkspace workspace;
    const std::string uri = workspace.uri("sample.cu");
    const std::string file = workspace.path(".kernelskill/memory/sample.cu.jsonl");
    const std::string whole =
        R"({"v":1,"kind":"plan","time":"2025-01-31T12:00:00.123Z","kernel":"transpose",)"
        R"("kernelHash":"0000000000000001","skill":"restrict-and-const","option":0,)"
        R"("editHash":"","status":"","detail":"kept"})"
        "\n";
};

TEST_F(Memory, ALineCutShortCostsOnlyItself) {
    workspace.write(".kernelskill/memory/sample.cu.jsonl", whole + R"({"v":1,"kind":"ver)");
    LspClient client;
    start(client);
    const json before = shown(client);
    EXPECT_EQ(before.at("entries").size(), 1u);
    EXPECT_THAT(before.at("problems").dump(), HasSubstr("line 2 is cut short"));
    const json resolved = client.call("codeAction/resolve", padding(client, uri), reviewTime);
    ASSERT_TRUE(resolved.contains("result")) << resolved;
    const json after = shown(client);
    EXPECT_EQ(after.at("entries").at(0).at("detail"), "kept");
    EXPECT_GE(after.at("entries").size(), 3u);
    EXPECT_EQ(after.at("problems"), json::array());
    EXPECT_THAT(stored(), StartsWith(whole));
}

TEST_F(Memory, TheHoverShowsWhatWasTried) {
    LspClient client;
    start(client);
    const auto hover = [&] {
        return client
            .call("textDocument/hover", {{"textDocument", {{"uri", uri}}},
                                         {"position", placeOf(transpose, "transpose(float", 1)}})
            .at("result")
            .dump();
    };
    EXPECT_THAT(hover(), Not(HasSubstr("**Tried**")));
    const json resolved = client.call("codeAction/resolve", padding(client, uri), reviewTime);
    ASSERT_TRUE(resolved.contains("result")) << resolved;
    EXPECT_THAT(hover(), HasSubstr("- `shared-memory-padding`: unmeasured"));
}

TEST_F(Memory, WhatFailedOnThisCodeIsNotOfferedAgain) {
    {
        LspClient client;
        start(client);
        const json resolved = client.call("codeAction/resolve", padding(client, uri), reviewTime);
        ASSERT_TRUE(resolved.contains("result")) << resolved;
    }
    std::string entries = stored();
    const std::string passed = R"("status":"unmeasured")";
    const auto at = entries.find(passed);
    ASSERT_NE(at, std::string::npos) << entries;
    workspace.write(".kernelskill/memory/sample.cu.jsonl",
                    entries.replace(at, passed.size(), R"("status":"incorrect")"));
    LspClient plain;
    start(plain);
    EXPECT_EQ(padding(plain, uri), json());

    LspClient explaining;
    json capabilities = editorCapabilities();
    capabilities["textDocument"]["codeAction"]["disabledSupport"] = true;
    explaining.initialize({{"capabilities", capabilities}, {"rootUri", workspace.uri()}});
    explaining.open(uri, transpose);
    const json action = padding(explaining, uri);
    ASSERT_TRUE(action.contains("disabled")) << action;
    EXPECT_THAT(action.at("disabled").at("reason").get<std::string>(),
                HasSubstr("Failed on this very code before"));
    EXPECT_FALSE(action.contains("data") || action.contains("command"));
}

TEST_F(Memory, AServerKilledWhileItWritesLosesNothingEarlier) {
    std::string kept = whole;
    workspace.write(".kernelskill/memory/sample.cu.jsonl", kept);
    for (int writes = 1; writes <= 3; ++writes) {
        LspClient client({"--single-process"});
        start(client);
        const json action = padding(client, uri);
        ASSERT_FALSE(action.is_null());
        client.sendRequest("codeAction/resolve", action);
        // Killed at the first, then the second, then the third line that comes.
        const auto deadline = std::chrono::steady_clock::now() + reviewTime;
        auto size = std::filesystem::file_size(file);
        for (int seen = 0; seen < writes && std::chrono::steady_clock::now() < deadline;) {
            const auto now = std::filesystem::file_size(file);
            seen += now > size ? 1 : 0;
            size = now;
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
        ::kill(client.pid(), SIGKILL);
        EXPECT_EQ(client.waitForExit(), 128 + SIGKILL) << "it should have been at work";
        const std::string left = stored();
        EXPECT_THAT(left, StartsWith(kept));
        EXPECT_GT(left.size(), kept.size());
        kept = left.substr(0, left.rfind('\n') + 1);
    }
    LspClient client;
    start(client);
    EXPECT_EQ(shown(client).at("entries").size(),
              static_cast<std::size_t>(std::count(kept.begin(), kept.end(), '\n')));
}

// No user, root included, can make a folder in /sys.
TEST(ReadOnlyWorkspace, TheEditIsVerifiedAndTheMissingMemoryIsSaid) {
    const std::string uri = "file:///sys/sample.cu";
    LspClient client;
    client.initialize({{"capabilities", editorCapabilities()}, {"rootUri", "file:///sys"}});
    client.open(uri, transpose);
    const json action = padding(client, uri);
    ASSERT_FALSE(action.is_null());
    const json resolved = client.call("codeAction/resolve", action, reviewTime);
    ASSERT_TRUE(resolved.contains("result")) << resolved;
    EXPECT_TRUE(resolved.at("result").contains("edit"));
    const json message = client.notification("window/showMessage");
    ASSERT_FALSE(message.is_null()) << "the user was not told";
    EXPECT_EQ(message.at("params").at("type"), 2);
    EXPECT_THAT(message.at("params").at("message").get<std::string>(), HasSubstr("memory"));
    const json memory = client.call("kernelskill/memory", {{"textDocument", {{"uri", uri}}}});
    EXPECT_EQ(memory.at("result").at("entries"), json::array());
}

} // namespace
} // namespace kernelskill::lsp::testing
