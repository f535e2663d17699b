// kernelskill.optimize as an editor uses it.
#include "tests/lsp-server/features/sample_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;

constexpr Milliseconds searchTime{180000};

class OptimizeRequest : public ::testing::Test {
protected:
    OptimizeRequest() {
        ::setenv("XDG_DATA_HOME", workspace.path("data").c_str(), 1);
        client.emplace();
        json capabilities = editorCapabilities();
        capabilities["workspace"]["workspaceEdit"]["changeAnnotationSupport"] = json::object();
        client->initialize(
            {{"capabilities", std::move(capabilities)}, {"rootUri", workspace.uri()}});
        client->open(uri, transpose);
    }
    ~OptimizeRequest() override { ::unsetenv("XDG_DATA_HOME"); }

    [[nodiscard]] json action() {
        const json actions =
            client
                ->call("textDocument/codeAction",
                       {{"textDocument", {{"uri", uri}}},
                        {"range", pointRange(placeOf(transpose, "int x = blockIdx"))},
                        {"context", {{"diagnostics", json::array()}, {"only", {"source"}}}}})
                .at("result");
        return actions.empty() ? json() : actions.at(0);
    }
    [[nodiscard]] static json asCommand(const json& action, json more = json::object()) {
        json params{{"command", action.at("command").at("command")},
                    {"arguments", action.at("command").at("arguments")}};
        params["arguments"][0].update(more);
        return params;
    }
    [[nodiscard]] std::ptrdiff_t editsSent() const {
        return std::ranges::count_if(client->serverRequests, [](const json& request) {
            return request.at("method") == "workspace/applyEdit";
        });
    }

    TemporaryWorkspace workspace;
    std::string uri = workspace.uri("sample.cu");
    std::optional<LspClient> client;
};

TEST_F(OptimizeRequest, TheActionOfAKernelEndsInOneEdit) {
    const json offered = action();
    ASSERT_FALSE(offered.is_null());
    EXPECT_EQ(offered.at("title"), "Optimize kernel 'transpose'");
    EXPECT_EQ(offered.at("kind"), "source.optimize");
    const json answer =
        client->call("workspace/executeCommand",
                     asCommand(offered, {{"rounds", 3}, {"report", true}}), searchTime);
    ASSERT_TRUE(answer.contains("result")) << answer;
    const json& result = answer.at("result");
    EXPECT_EQ(result.at("kernel"), "transpose");
    EXPECT_THAT(result.at("report").at("html").get<std::string>(),
                ::testing::AllOf(HasSubstr("<!DOCTYPE html>"), HasSubstr("shared-memory-padding")));
    EXPECT_TRUE(result.at("best").at("improved").get<bool>()) << result.dump(1);
    EXPECT_TRUE(result.at("applied").get<bool>());
    EXPECT_EQ(editsSent(), 1);
    const auto sent = std::ranges::find(client->serverRequests, "workspace/applyEdit",
                                        [](const json& request) { return request.at("method"); });
    ASSERT_NE(sent, client->serverRequests.end());
    EXPECT_EQ(sent->at("params").at("label"), "Optimize kernel 'transpose'");
    EXPECT_EQ(sent->at("params").at("edit").at("documentChanges").at(0).at("textDocument"),
              (json{{"uri", uri}, {"version", 1}}));
    const json& annotations = sent->at("params").at("edit").at("changeAnnotations");
    ASSERT_EQ(annotations.size(), 1u);
    EXPECT_TRUE(annotations.begin().value().at("needsConfirmation").get<bool>());
    const json message = client->notification("window/showMessage");
    EXPECT_THAT(message.dump(), HasSubstr("The search ended"));
    EXPECT_EQ(annotations.begin().value().at("description").get<std::string>() +
                  " One undo takes it back.",
              message.at("params").at("message").get<std::string>());
}

TEST_F(OptimizeRequest, WhatTheUserDiscardsIsNotApplied) {
    client->appliesEdits = false;
    const json answer =
        client->call("workspace/executeCommand", asCommand(action(), {{"rounds", 1}}), searchTime);
    ASSERT_TRUE(answer.contains("result")) << answer;
    EXPECT_EQ(editsSent(), 1);
    EXPECT_FALSE(answer.at("result").at("applied").get<bool>());
    EXPECT_FALSE(client->waitFor(
        [](const json& message) { return message.value("method", "") == "window/showMessage"; },
        Milliseconds(200)));
}

TEST_F(OptimizeRequest, ShowsEachRoundAndCanBeCancelledWithoutAnEdit) {
    json params = asCommand(action());
    params["workDoneToken"] = "search";
    const int id = client->sendRequest("workspace/executeCommand", params);
    const auto isRound = [](const json& message) {
        return message.value("method", "") == "$/progress" &&
               message.at("params").at("token") == "search" &&
               message.at("params").at("value").value("message", "").starts_with("round 1 of 8: ");
    };
    ASSERT_TRUE(client->waitFor(isRound, searchTime));
    client->notify("window/workDoneProgress/cancel", {{"token", "search"}});
    const json answer = client->response(id, searchTime);
    ASSERT_TRUE(answer.contains("result")) << answer;
    EXPECT_EQ(answer.at("result").at("stop").at("reason"), "cancelled");
    EXPECT_FALSE(answer.at("result").at("applied").get<bool>());
    EXPECT_EQ(editsSent(), 0);
}

TEST_F(OptimizeRequest, AnEditMeanwhileRefusesTheResult) {
    const int id =
        client->sendRequest("workspace/executeCommand", asCommand(action(), {{"rounds", 1}}));
    client->change(uri, 2, json::array({{{"text", "// new first line\n" + transpose}}}));
    EXPECT_EQ(client->response(id, searchTime).at("error").at("code"), -32801);
    EXPECT_EQ(editsSent(), 0);
    const json stale =
        client->call("workspace/executeCommand", {{"command", "kernelskill.optimize"},
                                                  {"arguments", {{{"uri", uri}, {"version", 1}}}}});
    EXPECT_EQ(stale.at("error").at("code"), -32801);
}

TEST_F(OptimizeRequest, NamesAKernelThatIsNotThere) {
    const json answer = client->call(
        "workspace/executeCommand",
        {{"command", "kernelskill.optimize"}, {"arguments", {{{"uri", uri}, {"kernel", "gone"}}}}});
    EXPECT_THAT(answer.at("error").at("message").get<std::string>(), HasSubstr("gone"));
}

} // namespace
} // namespace kernelskill::lsp::testing
