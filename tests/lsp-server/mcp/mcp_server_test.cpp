// The Model Context Protocol at the wire: revisions, lists, resources, cancellation, bad input.
#include "tests/lsp-server/mcp/mcp_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class McpServer : public McpFixture {};

TEST_F(McpServer, AModernRequestNeedsNoHandshake) {
    const json found = client->call("server/discover", modern()).at("result");
    EXPECT_EQ(found.at("resultType"), "complete");
    EXPECT_EQ(found.at("supportedVersions").at(0), "2026-07-28");
    EXPECT_TRUE(found.at("capabilities").contains("tools"));
    EXPECT_TRUE(found.at("capabilities").contains("resources"));
    EXPECT_EQ(found.at("_meta").at("io.modelcontextprotocol/serverInfo").at("name"), "kernelskill");
    EXPECT_GE(found.at("ttlMs").get<int>(), 0);
    EXPECT_EQ(found.at("cacheScope"), "private");
    const json tools = client->call("tools/list", modern()).at("result");
    EXPECT_EQ(tools.at("resultType"), "complete");
    EXPECT_TRUE(tools.contains("ttlMs"));
}

TEST_F(McpServer, ARevisionThatIsNotSpokenIsAnsweredWithThoseThatAre) {
    json params = modern();
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "1900-01-01";
    const json error = client->call("tools/list", params).at("error");
    EXPECT_EQ(error.at("code"), -32022);
    EXPECT_EQ(error.at("data").at("requested"), "1900-01-01");
    EXPECT_EQ(error.at("data").at("supported").at(0), "2026-07-28");
    params = modern();
    params["_meta"].erase("io.modelcontextprotocol/clientCapabilities");
    EXPECT_EQ(client->call("tools/list", params).at("error").at("code"), -32602);
}

class Handshake : public McpServer,
                  public ::testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(Handshake, AgreesOnARevision) {
    const auto [wanted, agreed] = GetParam();
    EXPECT_EQ(client->call("tools/list", json::object()).at("error").at("code"), -32600);
    const json answer =
        client
            ->call("initialize", {{"protocolVersion", wanted},
                                  {"capabilities", json::object()},
                                  {"clientInfo", {{"name", "t"}, {"version", "1"}}}})
            .at("result");
    EXPECT_EQ(answer.at("protocolVersion"), agreed);
    EXPECT_EQ(answer.at("serverInfo").at("name"), "kernelskill");
    EXPECT_THAT(answer.at("instructions").get<std::string>(), HasSubstr("try_edit"));
    client->notify("notifications/initialized", json::object());
    EXPECT_EQ(client->call("ping", json::object()).at("result"), json::object());
    const json tools = client->call("tools/list", json::object()).at("result");
    EXPECT_FALSE(tools.contains("resultType"));
    EXPECT_EQ(tools.at("tools").size(), 9U);
}

INSTANTIATE_TEST_SUITE_P(Revisions, Handshake,
                         ::testing::Values(std::pair("2025-11-25", "2025-11-25"),
                                           std::pair("2025-06-18", "2025-06-18"),
                                           std::pair("2024-11-05", "2024-11-05"),
                                           std::pair("2025-03-26", "2025-11-25"),
                                           std::pair("2999-01-01", "2025-11-25")));

TEST_F(McpServer, EachToolSaysWhatItTakesAndAnswers) {
    const json tools = client->call("tools/list", modern()).at("result").at("tools");
    std::vector<std::string> names;
    for (const json& tool : tools) {
        names.push_back(tool.at("name"));
        EXPECT_FALSE(tool.at("description").get<std::string>().empty());
        EXPECT_EQ(tool.at("inputSchema").at("type"), "object");
        EXPECT_EQ(tool.at("inputSchema").at("additionalProperties"), false);
        EXPECT_EQ(tool.at("outputSchema").at("type"), "object");
        const bool mayWrite = tool.at("inputSchema").at("properties").contains("write");
        EXPECT_EQ(tool.at("annotations").at("readOnlyHint"), !mayWrite) << names.back();
    }
    EXPECT_EQ(names, (std::vector<std::string>{"check", "plan", "nest", "memory", "profile",
                                               "try_edit", "verify", "apply_skill", "optimize"}));
}

TEST_F(McpServer, SkillsAreResources) {
    const json resources = client->call("resources/list", modern()).at("result").at("resources");
    const auto padding = std::ranges::find(resources, "shared-memory-padding",
                                           [](const json& each) { return each.at("name"); });
    ASSERT_NE(padding, resources.end());
    const json read =
        client->call("resources/read", modern({{"uri", padding->at("uri")}})).at("result");
    EXPECT_EQ(read.at("contents").at(0).at("uri"), padding->at("uri"));
    EXPECT_THAT(read.at("contents").at(0).at("text").get<std::string>(),
                AllOf(HasSubstr("# "), HasSubstr("## Offered when"), HasSubstr("bank-conflicts")));
    EXPECT_EQ(client->call("resources/templates/list", modern())
                  .at("result")
                  .at("resourceTemplates")
                  .at(0)
                  .at("uriTemplate"),
              "kernelskill://skills/{id}");
    for (const char* uri : {"kernelskill://skills/none", "file:///etc/passwd", ""})
        EXPECT_EQ(client->call("resources/read", modern({{"uri", uri}})).at("error").at("code"),
                  -32602)
            << uri;
}

TEST_F(McpServer, BadInputIsAnsweredAndSurvived) {
    client->sendBytes("hello\n[]\n{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}\n");
    for (int code : {-32700, -32600, -32600})
        EXPECT_TRUE(client->waitFor([&](const json& message) {
            return message.contains("error") && message.at("error").at("code") == code;
        })) << code;
    EXPECT_EQ(client->call("no/method", modern()).at("error").at("code"), -32601);
    EXPECT_EQ(client->call("tools/call", modern()).at("error").at("code"), -32602);
    EXPECT_EQ(client->call("tools/call", callOf("none", json::object())).at("error").at("code"),
              -32602);
    EXPECT_EQ(client->call("tools/call", modern({{"name", "check"}, {"arguments", {1}}}))
                  .at("error")
                  .at("code"),
              -32602);
    for (const json& arguments :
         {json::object(), json{{"file", 1}}, json{{"file", file}, {"colour", "red"}},
          json{{"file", file}, {"line", 0}}, json{{"file", "/nowhere.cu"}}}) {
        const json result = call("plan", arguments);
        EXPECT_EQ(result.at("isError"), true) << arguments;
        EXPECT_THAT(textOf(result), HasSubstr("error: ")) << arguments;
    }
    EXPECT_EQ(call("check", {{"file", file}}).at("isError"), false);
}

TEST_F(McpServer, ACallCanBeCancelled) {
    trust();
    const std::string endless =
        workspace.write("slow.cu", "__global__ void slow(float* a) {\n"
                                   "    for (int i = 0; i < 1000000; ++i)\n"
                                   "        a[threadIdx.x] += 1.0f;\n"
                                   "}\n"
                                   "// kernelskill: launch slow<<<4096, 1024>>>(a=zero[1024])\n");
    json params = callOf("profile", {{"file", endless}});
    params["_meta"]["progressToken"] = "p";
    const int id = client->sendRequest("tools/call", params);
    ASSERT_FALSE(client->notification("notifications/progress", toolTime).is_null());
    client->notify("notifications/cancelled", {{"requestId", id}, {"reason", "enough"}});
    EXPECT_EQ(call("check", {{"file", file}}).at("isError"), false);
    EXPECT_TRUE(client->response(id, Milliseconds(1500)).is_null()) << "a response follows";
    client->notify("notifications/cancelled", {{"requestId", 12345}});
    client->notify("notifications/cancelled", json::object());
    EXPECT_EQ(call("check", {{"file", file}}).at("isError"), false);
}

TEST_F(McpServer, ItEndsWithItsInput) {
    (void)client->call("server/discover", modern());
    client->closeInput();
    EXPECT_EQ(client->waitForExit(), 0);
}

} // namespace
} // namespace kernelskill::lsp::testing
