#include "lsp-server/supervisor/session_record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kernelskill::lsp {
namespace {

using nlohmann::json;

const std::string fileA = "file:///project/a.cu";
const std::string fileB = "file:///project/b.cu";

std::vector<json> parsed(const std::vector<std::string>& bodies) {
    std::vector<json> messages;
    for (const std::string& body : bodies)
        messages.push_back(json::parse(body));
    return messages;
}

std::vector<std::string> methods(const std::vector<std::string>& bodies) {
    std::vector<std::string> names;
    for (const json& message : parsed(bodies))
        names.push_back(message.value("method", "response"));
    return names;
}

class Session : public ::testing::Test {
protected:
    void SetUp() override {
        request(1, "initialize", {{"capabilities", json::object()}});
        fromServer({{"id", 1}, {"result", {{"capabilities", json::object()}}}});
        notify("initialized", json::object());
    }

    // Parsed as it arrives: a number without a sign has another type then.
    Outbox fromClient(const json& message) {
        const std::string body = message.dump();
        return record.fromClient(json::parse(body), body);
    }
    Outbox fromServer(const json& message) {
        const std::string body = message.dump();
        return record.fromServer(json::parse(body), body);
    }
    Outbox request(int id, const std::string& method, const json& params) {
        return fromClient({{"id", id}, {"method", method}, {"params", params}});
    }
    Outbox notify(const std::string& method, const json& params) {
        return fromClient({{"method", method}, {"params", params}});
    }
    Outbox open(const std::string& uri, const std::string& text) {
        return notify(
            "textDocument/didOpen",
            {{"textDocument",
              {{"uri", uri}, {"languageId", "cuda-cpp"}, {"version", 1}, {"text", text}}}});
    }
    Outbox change(const std::string& uri, int version, const json& changes) {
        return notify(
            "textDocument/didChange",
            {{"textDocument", {{"uri", uri}, {"version", version}}}, {"contentChanges", changes}});
    }
    /// The server has read a version.
    Outbox publish(const std::string& uri, int version) {
        return fromServer(
            {{"method", "textDocument/publishDiagnostics"},
             {"params", {{"uri", uri}, {"version", version}, {"diagnostics", json::array()}}}});
    }
    Outbox answerInitialize() {
        return fromServer({{"id", "kernelskill/initialize"}, {"result", json::object()}});
    }
    Outbox answerProbe() {
        return fromServer({{"id", "kernelskill/probe"}, {"result", json::array()}});
    }

    SessionRecord record;
};

TEST_F(Session, PassesMessagesOnWithoutACrash) {
    const json hover{{"id", 2},
                     {"method", "textDocument/hover"},
                     {"params", {{"textDocument", {{"uri", fileA}}}}}};
    EXPECT_EQ(fromClient(hover).toServer, std::vector{hover.dump()});
    const json answer{{"id", 2}, {"result", nullptr}};
    EXPECT_EQ(fromServer(answer).toClient, std::vector{answer.dump()});
    const json asked{{"id", 1}, {"method", "workspace/configuration"}, {"params", json::object()}};
    EXPECT_EQ(fromServer(asked).toClient, std::vector{asked.dump()});
    const json configured{{"id", 1}, {"result", json::array()}};
    EXPECT_EQ(fromClient(configured).toServer, std::vector{configured.dump()});
    EXPECT_EQ(record.fromClient(json::array(), "[]").toServer, std::vector<std::string>{"[]"});
}

TEST_F(Session, StartsTheNewServerLikeTheOldOne) {
    notify("workspace/didChangeConfiguration", {{"settings", 1}});
    notify("workspace/didChangeConfiguration", {{"settings", 2}});
    notify("workspace/didChangeWorkspaceFolders", {{"event", "added"}});
    open(fileA, "int a;\n");
    change(fileA, 2,
           json::array({{{"range",
                          {{"start", {{"line", 0}, {"character", 4}}},
                           {"end", {{"line", 0}, {"character", 5}}}}},
                         {"text", "b, c"}}}));
    publish(fileA, 2);
    const Outbox crash = record.afterCrash("signal 11");
    ASSERT_EQ(methods(crash.toServer), std::vector<std::string>{"initialize"});
    EXPECT_EQ(json::parse(crash.toServer[0]).at("id"), "kernelskill/initialize");
    EXPECT_EQ(methods(crash.toClient), std::vector<std::string>{"window/showMessage"});
    const std::vector<json> said = parsed(answerInitialize().toServer);
    ASSERT_EQ(said.size(), 4U);
    EXPECT_EQ(said[0].at("method"), "initialized");
    EXPECT_EQ(said[1].at("params").at("settings"), 2);
    EXPECT_EQ(said[2].at("method"), "workspace/didChangeWorkspaceFolders");
    const json& document = said[3].at("params").at("textDocument");
    EXPECT_EQ(document.at("text"), "int b, c;\n");
    EXPECT_EQ(document.at("version"), 2);
    EXPECT_EQ(document.at("languageId"), "cuda-cpp");
}

TEST_F(Session, AnswersWhatWasUnderWay) {
    open(fileA, "");
    publish(fileA, 1);
    request(7, "textDocument/hover", {{"textDocument", {{"uri", fileA}}}});
    request(8, "workspace/executeCommand", {{"command", "x"}});
    fromServer(
        {{"method", "$/progress"}, {"params", {{"token", "t"}, {"value", {{"kind", "begin"}}}}}});
    fromServer(
        {{"method", "$/progress"}, {"params", {{"token", "u"}, {"value", {{"kind", "begin"}}}}}});
    fromServer(
        {{"method", "$/progress"}, {"params", {{"token", "u"}, {"value", {{"kind", "end"}}}}}});
    const std::vector<json> told = parsed(record.afterCrash("signal 6").toClient);
    ASSERT_EQ(told.size(), 4U);
    EXPECT_NE(told[0].at("params").at("message").get<std::string>().find("a.cu (signal 6)"),
              std::string::npos);
    EXPECT_EQ(told[1].at("params").at("token"), "t");
    EXPECT_EQ(told[1].at("params").at("value").at("kind"), "end");
    EXPECT_EQ(told[2].at("id"), 7);
    EXPECT_EQ(told[2].at("error").at("code"), -32801);
    EXPECT_EQ(told[3].at("id"), 8);
    EXPECT_EQ(told[3].at("error").at("code"), -32803);
    EXPECT_TRUE(record.afterCrash("signal 6").toClient.size() == 1); // Answered once.
}

TEST_F(Session, KeepsRequestsUntilTheNewServerIsReady) {
    static_cast<void>(record.afterCrash("signal 11"));
    EXPECT_TRUE(request(5, "kernelskill/memory", json::object()).toServer.empty());
    EXPECT_TRUE(open(fileA, "x").toServer.empty());
    EXPECT_EQ(
        methods(answerInitialize().toServer),
        (std::vector<std::string>{"initialized", "textDocument/didOpen", "kernelskill/memory"}));
    EXPECT_EQ(fromServer({{"id", 5}, {"result", 1}}).toClient.size(), 1U);
}

TEST_F(Session, DropsAnswersToAnEarlierServer) {
    fromServer({{"id", 3}, {"method", "workspace/configuration"}, {"params", json::object()}});
    static_cast<void>(record.afterCrash("signal 11"));
    answerInitialize();
    const Outbox asked =
        fromServer({{"id", 3}, {"method", "workspace/configuration"}, {"params", json::object()}});
    const json id = parsed(asked.toClient).at(0).at("id");
    EXPECT_EQ(id, "restart1/3");
    EXPECT_TRUE(fromClient({{"id", 3}, {"result", "old"}}).toServer.empty());
    EXPECT_TRUE(fromClient({{"id", "restart0/3"}, {"result", "old"}}).toServer.empty());
    const std::vector<json> answer = parsed(fromClient({{"id", id}, {"result", "new"}}).toServer);
    ASSERT_EQ(answer.size(), 1U);
    EXPECT_EQ(answer[0], (json{{"id", 3}, {"result", "new"}}));
}

TEST_F(Session, RegistersOnlyOnce) {
    const json registration{
        {"id", 1}, {"method", "client/registerCapability"}, {"params", json::object()}};
    EXPECT_EQ(fromServer(registration).toClient.size(), 1U);
    static_cast<void>(record.afterCrash("signal 11"));
    answerInitialize();
    const Outbox again = fromServer(registration);
    EXPECT_TRUE(again.toClient.empty());
    EXPECT_EQ(parsed(again.toServer).at(0),
              (json{{"jsonrpc", "2.0"}, {"id", 1}, {"result", nullptr}}));
}

TEST_F(Session, OpensSuspectsOneByOne) {
    open(fileA, "a");
    open(fileB, "b");
    open("file:///project/c.cu", "c");
    publish("file:///project/c.cu", 1);
    static_cast<void>(record.afterCrash("signal 11"));
    std::vector<json> said = parsed(answerInitialize().toServer);
    ASSERT_EQ(said.size(), 4U); // initialized, c.cu, a.cu and a question about it.
    EXPECT_EQ(said[1].at("params").at("textDocument").at("uri"), "file:///project/c.cu");
    EXPECT_EQ(said[2].at("params").at("textDocument").at("uri"), fileA);
    EXPECT_EQ(said[3].at("id"), "kernelskill/probe");
    // Requests about a document that waits cannot be answered yet; a change of it is not lost.
    EXPECT_EQ(
        parsed(request(9, "textDocument/hover", {{"textDocument", {{"uri", fileB}}}}).toClient)
            .at(0)
            .at("error")
            .at("code"),
        -32803);
    EXPECT_TRUE(change(fileB, 2, json::array({{{"text", "b2"}}})).toServer.empty());
    said = parsed(answerProbe().toServer);
    ASSERT_EQ(said.size(), 2U);
    EXPECT_EQ(said[0].at("params").at("textDocument").at("text"), "b2");
    EXPECT_TRUE(answerProbe().toServer.empty());
    EXPECT_EQ(change(fileB, 3, json::array({{{"text", "b3"}}})).toServer.size(), 1U);
}

TEST_F(Session, HoldsBackATextThatCrashesTwice) {
    open(fileA, "a");
    open(fileB, "b");
    static_cast<void>(record.afterCrash("signal 11"));
    answerInitialize();
    const std::vector<json> told = parsed(record.afterCrash("signal 11").toClient);
    ASSERT_GE(told.size(), 2U);
    EXPECT_NE(told[0].at("params").at("message").get<std::string>().find("a.cu"),
              std::string::npos);
    EXPECT_EQ(told[1].at("params").at("uri"), fileA);
    EXPECT_EQ(told[1].at("params").at("diagnostics").size(), 1U);
    // The other one gets its turn.
    std::vector<json> said = parsed(answerInitialize().toServer);
    ASSERT_EQ(said.size(), 3U);
    EXPECT_EQ(said[1].at("params").at("textDocument").at("uri"), fileB);
    answerProbe();
    // Another text of it is read again.
    said = parsed(change(fileA, 2, json::array({{{"text", "a2"}}})).toServer);
    ASSERT_EQ(said.size(), 2U);
    EXPECT_EQ(said[0].at("method"), "textDocument/didOpen");
    EXPECT_EQ(said[0].at("params").at("textDocument").at("text"), "a2");
}

TEST_F(Session, ForgetsAClosedDocument) {
    open(fileA, "a");
    static_cast<void>(record.afterCrash("signal 11"));
    EXPECT_TRUE(
        notify("textDocument/didClose", {{"textDocument", {{"uri", fileA}}}}).toServer.empty());
    EXPECT_EQ(methods(answerInitialize().toServer), std::vector<std::string>{"initialized"});
}

TEST_F(Session, KnowsWhenTheServerMayEnd) {
    EXPECT_FALSE(record.isEnding());
    request(4, "shutdown", json::object());
    EXPECT_FALSE(record.isEnding());
    fromServer({{"id", 4}, {"result", nullptr}});
    EXPECT_TRUE(record.isEnding());
    SessionRecord other;
    static_cast<void>(other.fromClient({{"method", "exit"}}, "{}"));
    EXPECT_TRUE(other.isEnding());
}

TEST(SessionRecord, LetsTheNewServerAnswerInitialize) {
    SessionRecord record;
    const json initialize{{"id", 1}, {"method", "initialize"}, {"params", json::object()}};
    static_cast<void>(record.fromClient(initialize, initialize.dump()));
    const Outbox crash = record.afterCrash("signal 11");
    EXPECT_EQ(parsed(crash.toServer), std::vector{initialize});
    const json answer{{"id", 1}, {"result", json::object()}};
    EXPECT_EQ(record.fromServer(answer, answer.dump()).toClient, std::vector{answer.dump()});
}

TEST(SessionRecord, PassesOnWhatItDoesNotUnderstand) {
    SessionRecord record;
    for (const json& odd :
         {json{{"method", "textDocument/didOpen"}, {"params", {{"textDocument", 1}}}},
          json{{"method", "textDocument/didChange"}, {"params", json::array()}},
          json{{"method", 3}, {"id", {1}}}, json{{"id", nullptr}}, json("text")})
        EXPECT_EQ(record.fromClient(odd, odd.dump()).toServer, std::vector{odd.dump()});
}

} // namespace
} // namespace kernelskill::lsp
