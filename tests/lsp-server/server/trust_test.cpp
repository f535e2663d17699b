// Kernels of a folder are compiled and run only if the client or the user says that it is trusted.
#include "tests/lsp-server/features/sample_files.h"
#include "tests/lsp-server/lsp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;

constexpr Milliseconds runTime{60000};

const std::string kernel =
    "__global__ void first(float* a) { a[threadIdx.x] = a[threadIdx.x] / 2.0f; }\n"
    "// kernelskill: launch first<<<1, 32>>>(a=rand[32])\n"
    "void host(float* a, int n) { for (int i = 0; i < n; ++i) a[i] = 2.0f; }\n";

class Trust : public ::testing::Test {
protected:
    Trust() {
        ::setenv("XDG_STATE_HOME", state.path().c_str(), 1);
        restart();
    }
    ~Trust() override { ::unsetenv("XDG_STATE_HOME"); }

    void restart() {
        client.emplace();
        client->saysTrusted = false;
    }
    void start(const json& options = json::object()) {
        client->initialize({{"capabilities", editorCapabilities()},
                            {"rootUri", workspace.uri()},
                            {"initializationOptions", options}});
        client->open(uri, kernel);
    }
    [[nodiscard]] json profile() {
        return client->call("kernelskill/profile",
                            {{"textDocument", {{"uri", uri}}}, {"kernel", "first"}}, runTime);
    }
    [[nodiscard]] std::ptrdiff_t questions() const {
        return std::ranges::count(client->serverRequests, json("window/showMessageRequest"),
                                  [](const json& request) { return request.at("method"); });
    }
    [[nodiscard]] static std::string messageOf(const json& answer) {
        return answer.contains("error") ? answer.at("error").at("message").get<std::string>()
                                        : "it was run: " + answer.dump().substr(0, 200);
    }

    TemporaryWorkspace workspace;
    TemporaryWorkspace state;
    std::string uri = workspace.uri("first.cu");
    std::optional<LspClient> client;
};

TEST_F(Trust, SilenceIsNotTrustAndTheUserIsAskedOnce) {
    start();
    EXPECT_THAT(messageOf(profile()), HasSubstr("is not trusted"));
    EXPECT_THAT(messageOf(profile()), HasSubstr("kernelskill trust " + workspace.path()));
    EXPECT_EQ(questions(), 1);
    const auto asked = std::ranges::find(client->serverRequests, json("window/showMessageRequest"),
                                         [](const json& request) { return request.at("method"); });
    ASSERT_NE(asked, client->serverRequests.end());
    EXPECT_EQ(
        asked->at("params").at("message"),
        "KernelSkill compiles and runs kernels of this folder in a sandbox to check its edits. "
        "Trust " +
            workspace.path() + "?");
}

TEST_F(Trust, NobodyIsAskedBeforeSomethingHasToRun) {
    start();
    EXPECT_TRUE(client->diagnostics(uri, 1).is_array());
    EXPECT_FALSE(client
                     ->call("textDocument/hover", {{"textDocument", {{"uri", uri}}},
                                                   {"position", {{"line", 0}, {"character", 17}}}})
                     .at("result")
                     .is_null());
    EXPECT_FALSE(client->call("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}})
                     .at("result")
                     .empty());
    EXPECT_EQ(questions(), 0);
}

TEST_F(Trust, AYesRunsWhatWasAskedForAndIsRememberedOutsideOfTheFolder) {
    client->chosenAction = "Trust";
    start();
    EXPECT_TRUE(profile().contains("result"));
    EXPECT_TRUE(std::filesystem::exists(state.path("kernelskill/trusted-folders")));
    EXPECT_FALSE(std::filesystem::exists(workspace.path(".kernelskill")));
    restart();
    start();
    EXPECT_TRUE(profile().contains("result"));
    EXPECT_EQ(questions(), 0);
}

TEST_F(Trust, ANoIsNotRemembered) {
    client->chosenAction = "Not now";
    start();
    EXPECT_THAT(messageOf(profile()), HasSubstr("is not trusted"));
    restart();
    client->chosenAction = "Trust";
    start();
    EXPECT_TRUE(profile().contains("result"));
}

TEST_F(Trust, AClientThatSaysNoIsBelieved) {
    client->chosenAction = "Trust";
    start({{"trusted", false}});
    const json refused = profile();
    EXPECT_THAT(messageOf(refused), HasSubstr("trust it in the editor"));
    EXPECT_EQ(refused.at("error").at("data").at("remedies"),
              json::array({{{"title", "Manage Trust"}, {"client", "trust"}}}));
    EXPECT_EQ(questions(), 0);
}

TEST_F(Trust, TheCommandLineTrustsForARunningServer) {
    start();
    EXPECT_THAT(messageOf(profile()), HasSubstr("is not trusted"));
    ASSERT_EQ(runKernelskill({"trust", workspace.path()}).status, 0);
    EXPECT_TRUE(profile().contains("result"));
    EXPECT_THAT(runKernelskill({"trust", "--list"}).output, HasSubstr(workspace.path() + "\n"));
    ASSERT_EQ(runKernelskill({"trust", "--remove", workspace.path()}).status, 0);
    EXPECT_EQ(runKernelskill({"trust", "--list"}).output, "");
    EXPECT_EQ(runKernelskill({"trust", "--remove", workspace.path()}).status, 2);
}

TEST_F(Trust, AListThatOthersMayWriteCountsForNothing) {
    ASSERT_EQ(runKernelskill({"trust", workspace.path()}).status, 0);
    std::filesystem::permissions(state.path("kernelskill/trusted-folders"),
                                 std::filesystem::perms::others_write,
                                 std::filesystem::perm_options::add);
    start();
    EXPECT_THAT(messageOf(profile()), HasSubstr("is not trusted"));
}

TEST_F(Trust, IsNotGivenToTheFoldersBeside) {
    ASSERT_EQ(runKernelskill({"trust", state.path()}).status, 0);
    start();
    EXPECT_THAT(messageOf(profile()), HasSubstr("is not trusted"));
}

/// Every request that compiles or runs.
TEST_F(Trust, NothingIsRunWithoutIt) {
    start();
    ASSERT_TRUE(client->diagnostics(uri, 1).is_array());
    const json document{{"uri", uri}};
    const json command{{"uri", uri}, {"kernel", "first"}, {"version", 1}};
    const auto execute = [&](const std::string& name, json argument) {
        return client->call("workspace/executeCommand",
                            {{"command", name}, {"arguments", json::array({std::move(argument)})}},
                            runTime);
    };
    const auto with = [&](json more) {
        json argument = command;
        argument.update(more);
        return argument;
    };
    EXPECT_THAT(messageOf(execute("kernelskill.profile", command)), HasSubstr("not trusted"));
    EXPECT_THAT(messageOf(execute("kernelskill.profile", with({{"on", "gpu"}}))),
                HasSubstr("not trusted"));
    EXPECT_THAT(messageOf(execute("kernelskill.optimize", command)), HasSubstr("not trusted"));
    EXPECT_THAT(messageOf(execute("kernelskill.generate", with({{"function", "host"}}))),
                HasSubstr("not trusted"));
    EXPECT_THAT(messageOf(execute("kernelskill.generateModel", {{"uri", workspace.uri("a.pt2")},
                                                                {"folder", workspace.uri("a")}})),
                HasSubstr("not trusted"));
    EXPECT_THAT(
        messageOf(execute("kernelskill.applySkill", with({{"skill", "vectorized-access"}}))),
        HasSubstr("not trusted"));
    EXPECT_THAT(messageOf(client->call("kernelskill/assembly", {{"textDocument", document}})),
                HasSubstr("not trusted"));
    EXPECT_THAT(messageOf(client->call("kernelskill/report", {{"textDocument", document}})),
                HasSubstr("not trusted"));
    const json actions =
        client
            ->call("textDocument/codeAction", {{"textDocument", document},
                                               {"range", pointRange(placeOf(kernel, "/ 2.0f"))},
                                               {"context", {{"diagnostics", json::array()}}}})
            .at("result");
    for (const json& action : actions) {
        const json data = action.value("data", json::object());
        if (data.value("type", "") == "skill" || data.value("type", "") == "generate")
            EXPECT_THAT(messageOf(client->call("codeAction/resolve", action, runTime)),
                        HasSubstr("not trusted"))
                << action;
    }
    EXPECT_EQ(questions(), 1);
}

TEST_F(Trust, SkillsOfTheFolderComeWithIt) {
    workspace.write(".kernelskill/skills/broken/SKILL.md", "no skill at all");
    start();
    EXPECT_TRUE(client->diagnostics(uri, 1).is_array());
    client->chosenAction = "Trust";
    EXPECT_TRUE(profile().contains("result"));
    EXPECT_THAT(client->notification("window/showMessage").dump(), HasSubstr("broken"));
}

} // namespace
} // namespace kernelskill::lsp::testing
