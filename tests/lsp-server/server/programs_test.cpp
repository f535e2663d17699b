// kernelskill/programs, kernelskill.pickProgram and kernelskill.runProgram.
#include "tests/lsp-server/lsp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <thread>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;

class Programs : public ::testing::Test {
protected:
    void start(json options = json::object(), bool isTrusted = true) {
        options["trusted"] = isTrusted;
        client.initialize({{"capabilities", editorCapabilities()},
                           {"rootUri", workspace.uri()},
                           {"initializationOptions", options}});
    }
    json execute(const std::string& command, const json& argument) {
        return client.call("workspace/executeCommand",
                           {{"command", command}, {"arguments", {argument}}});
    }
    static json twoPrograms() {
        return {{"program",
                 {{"small", {{"command", "echo small"}}}, {"big", {{"command", "echo big"}}}}}};
    }
    TemporaryWorkspace workspace;
    LspClient client;
};

TEST_F(Programs, SettingsAndFoundOnesAreListed) {
    workspace.write("Makefile", "run:\n\t@/bin/echo made\n");
    start(twoPrograms());
    const json list = client.call("kernelskill/programs", json::object()).at("result");
    ASSERT_EQ(list.at("programs").size(), 3U);
    EXPECT_EQ(list.at("programs").at(0).at("name"), "big");
    EXPECT_EQ(list.at("programs").at(0).at("origin"), "settings");
    EXPECT_EQ(list.at("programs").at(2).at("command"), json({"/bin/echo", "made"}));
    workspace.write("sub/Makefile", "run:\n\t/bin/echo inner\n");
    const json below =
        client
            .call("kernelskill/programs", {{"textDocument", {{"uri", workspace.uri("sub/a.cu")}}}})
            .at("result");
    EXPECT_EQ(below.at("programs").size(), 4U);
}

TEST_F(Programs, AnAnswerIsRememberedAndRun) {
    start(twoPrograms());
    client.chosenAction = "small";
    EXPECT_EQ(execute("kernelskill.pickProgram", json::object()).at("result").at("name"), "small");
    const auto asked = std::ranges::find(client.serverRequests, json("window/showMessageRequest"),
                                         [](const json& request) { return request.at("method"); });
    ASSERT_NE(asked, client.serverRequests.end());
    EXPECT_THAT(asked->at("params").at("message").get<std::string>(),
                HasSubstr("small: echo small, in " + workspace.path()));
    EXPECT_TRUE(std::filesystem::exists(workspace.path(".kernelskill/picked-program")));
    const json ran = execute("kernelskill.runProgram", json::object()).at("result");
    EXPECT_EQ(ran.at("passed"), true);
    EXPECT_EQ(ran.at("output"), "small\n");
    EXPECT_EQ(ran.at("run").at("status"), 0);
}

TEST_F(Programs, ANameNeedsNoQuestion) {
    start(twoPrograms());
    EXPECT_EQ(execute("kernelskill.pickProgram", {{"name", "big"}}).at("result").at("name"), "big");
    EXPECT_THAT(
        execute("kernelskill.pickProgram", {{"name", "x"}}).at("error").at("message").dump(),
        HasSubstr("there are: big, small"));
    EXPECT_TRUE(client.serverRequests.empty() ||
                std::ranges::none_of(client.serverRequests, [](const json& request) {
                    return request.at("method") == "window/showMessageRequest";
                }));
}

TEST_F(Programs, NoAnswerIsNoChoice) {
    start(twoPrograms());
    EXPECT_TRUE(execute("kernelskill.pickProgram", json::object()).at("result").is_null());
    EXPECT_FALSE(std::filesystem::exists(workspace.path(".kernelskill")));
}

TEST_F(Programs, NothingRunsWithoutTrust) {
    const std::string marker = workspace.path("marker");
    workspace.write("Makefile", "run:\n\ttouch " + marker + "\n");
    start(json::object(), false);
    EXPECT_EQ(
        client.call("kernelskill/programs", json::object()).at("result").at("programs").size(), 1U);
    EXPECT_THAT(execute("kernelskill.runProgram", json::object()).at("error").at("message").dump(),
                HasSubstr("is not trusted"));
    EXPECT_FALSE(std::filesystem::exists(marker));
}

TEST_F(Programs, ARunIsCancelled) {
    start({{"program", {{"endless", {{"command", "sleep 1000"}}}}}});
    const int id =
        client.sendRequest("workspace/executeCommand", {{"command", "kernelskill.runProgram"},
                                                        {"arguments", {json::object()}}});
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    client.notify("$/cancelRequest", {{"id", id}});
    EXPECT_TRUE(client.response(id).contains("error"));
}

TEST_F(Programs, AFailedBuildIsAnAnswer) {
    start({{"program", {{"a", {{"command", "true"}, {"build", "exit 4"}}}}}});
    const json ran = execute("kernelskill.runProgram", json::object()).at("result");
    EXPECT_EQ(ran.at("passed"), false);
    EXPECT_EQ(ran.at("failure").at("what"), "the build ended with status 4");
    EXPECT_TRUE(ran.at("run").is_null());
    EXPECT_TRUE(execute("kernelskill.runProgram", {{"build", false}}).at("result").at("passed"));
}

TEST_F(Programs, SettingsThatCannotBeUsedAreShown) {
    start({{"program", {{"bad", {{"arguments", 3}}}}}});
    EXPECT_THAT(client.notification("window/showMessage").at("params").at("message").dump(),
                HasSubstr("there is no `arguments`"));
}

} // namespace
} // namespace kernelskill::lsp::testing
