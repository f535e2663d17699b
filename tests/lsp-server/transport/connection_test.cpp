#include "analysis/source/json.h"
#include "lsp-server/transport/connection.h"

#include <gtest/gtest.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

namespace kernelskill::lsp {
namespace {

using nlohmann::json;

class ConnectionTest : public ::testing::Test {
protected:
    json onlyAnswer() {
        EXPECT_EQ(sent.size(), 1u);
        return sent.empty() ? json() : json::parse(sent.front());
    }

    std::vector<std::string> sent;
    spdlog::logger log{"test", std::make_shared<spdlog::sinks::null_sink_mt>()};
    Connection connection{[this](std::string body) { sent.push_back(std::move(body)); }, log};
};

TEST_F(ConnectionTest, AnswersARequest) {
    connection.onRequest("double", [](const json& params, Reply& reply, std::stop_source) {
        reply.result(params.at("n").get<int>() * 2);
    });
    connection.handle(R"({"jsonrpc":"2.0","id":"a","method":"double","params":{"n":4}})");
    EXPECT_EQ(onlyAnswer(), json::parse(R"({"jsonrpc":"2.0","id":"a","result":8})"));
}

TEST_F(ConnectionTest, AnIdThatNoSignedIntegerHoldsIsAnswered) {
    connection.onRequest("same",
                         [](const json&, Reply& reply, std::stop_source) { reply.result(true); });
    connection.handle(R"({"id":18446744073709551615,"method":"same"})");
    EXPECT_EQ(onlyAnswer().at("error").at("code"), -32600);
    connection.handle(R"({"id":18446744073709551615,"result":1})");
    EXPECT_EQ(sent.size(), 1u);
}

TEST_F(ConnectionTest, AMessageNestedTooDeeplyIsAnswered) {
    connection.onRequest(
        "copy", [](const json& params, Reply& reply, std::stop_source) { reply.result(params); });
    connection.handle(R"({"id":1,"method":"copy","params":{"a":)" + std::string(500'000, '[') +
                      std::string(500'000, ']') + "}}");
    EXPECT_EQ(onlyAnswer().at("error").at("code"), -32700);
}

TEST_F(ConnectionTest, AHandlerThatForgetsStillAnswers) {
    connection.onRequest("forget", [](const json&, Reply& reply, std::stop_source) {
        const Reply dropped = std::move(reply);
    });
    connection.handle(R"({"id":1,"method":"forget"})");
    EXPECT_EQ(onlyAnswer().at("error").at("code"), -32603);
}

TEST_F(ConnectionTest, OnlyTheFirstAnswerCounts) {
    connection.onRequest("twice", [](const json&, Reply& reply, std::stop_source) {
        reply.result(1);
        reply.result(2);
    });
    connection.handle(R"({"id":1,"method":"twice"})");
    EXPECT_EQ(onlyAnswer().at("result"), 1);
}

TEST_F(ConnectionTest, ParamsThatDoNotFitAreInvalidParams) {
    connection.onRequest("strict", [](const json& params, Reply& reply, std::stop_source) {
        reply.result(params.at("n").get<int>());
    });
    connection.handle(R"({"id":1,"method":"strict","params":{"n":"four"}})");
    EXPECT_EQ(onlyAnswer().at("error").at("code"), -32602);
}

TEST_F(ConnectionTest, CancelAnswersAtOnceAndStopsTheWork) {
    std::optional<Reply> kept;
    std::stop_source work;
    connection.onRequest("slow", [&](const json&, Reply& reply, const std::stop_source& stop) {
        kept.emplace(std::move(reply));
        work = stop;
    });
    connection.handle(R"({"id":5,"method":"slow"})");
    EXPECT_TRUE(sent.empty());
    connection.handle(R"({"method":"$/cancelRequest","params":{"id":5}})");
    EXPECT_EQ(onlyAnswer().at("error").at("code"), -32800);
    EXPECT_TRUE(work.stop_requested());
    kept->result("too late");
    EXPECT_EQ(sent.size(), 1u);
}

TEST_F(ConnectionTest, ALateAnswerDoesNotReachALaterRequestWithTheSameId) {
    std::vector<Reply> kept;
    connection.onRequest("slow", [&](const json&, Reply& reply, std::stop_source) {
        kept.push_back(std::move(reply));
    });
    connection.handle(R"({"id":5,"method":"slow"})");
    connection.handle(R"({"method":"$/cancelRequest","params":{"id":5}})");
    connection.handle(R"({"id":5,"method":"slow"})");
    kept.front().result("first");
    EXPECT_EQ(sent.size(), 1u);
    kept.back().result("second");
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(json::parse(sent.back()).at("result"), "second");
}

TEST_F(ConnectionTest, AnIdInUseIsRefused) {
    std::optional<Reply> kept;
    connection.onRequest("slow", [&](const json&, Reply& reply, std::stop_source) {
        kept.emplace(std::move(reply));
    });
    connection.handle(R"({"id":5,"method":"slow"})");
    connection.handle(R"({"id":5,"method":"slow"})");
    EXPECT_EQ(onlyAnswer().at("error").at("code"), -32600);
    kept.reset();
}

struct Malformed {
    const char* body;
    int code;
    const char* id;
};

class MalformedMessage : public ConnectionTest, public ::testing::WithParamInterface<Malformed> {};

TEST_P(MalformedMessage, IsAnsweredWithTheRightError) {
    connection.handle(GetParam().body);
    const json answer = onlyAnswer();
    EXPECT_EQ(answer.at("error").at("code"), GetParam().code);
    EXPECT_EQ(answer.at("id"), json::parse(GetParam().id));
}

INSTANTIATE_TEST_SUITE_P(
    Connection, MalformedMessage,
    ::testing::Values(Malformed{"{", -32700, "null"}, Malformed{"", -32700, "null"},
                      Malformed{"[]", -32600, "null"}, Malformed{"17", -32600, "null"},
                      Malformed{"{}", -32600, "null"}, Malformed{R"({"id":3})", -32600, "3"},
                      Malformed{R"({"id":3,"method":7})", -32600, "3"},
                      Malformed{R"({"id":3.5,"method":"x"})", -32600, "null"},
                      Malformed{R"({"id":{},"method":"x"})", -32600, "null"},
                      Malformed{R"({"id":3,"method":"x","params":"y"})", -32600, "3"},
                      Malformed{R"({"id":3,"method":"unknown"})", -32601, "3"}));

TEST_F(ConnectionTest, IgnoresUnknownNotificationsAndStrayResponses) {
    connection.handle(R"({"method":"$/unknown"})");
    connection.handle(R"({"method":"textDocument/unknown","params":[]})");
    connection.handle(R"({"id":99,"result":null})");
    connection.handle(R"({"id":"x","error":{"code":1}})");
    EXPECT_TRUE(sent.empty());
}

TEST_F(ConnectionTest, ReadsMessagesThatAreNotUtf8) {
    connection.onRequest("echo", [](const json& params, Reply& reply, std::stop_source) {
        reply.result(params.at("text"));
    });
    connection.handle("{\"id\":1,\"method\":\"echo\",\"params\":{\"text\":\"a\xff\"}}");
    EXPECT_EQ(onlyAnswer().at("result"), "a\xef\xbf\xbd");
}

TEST_F(ConnectionTest, HandsResponsesToWhoAsked) {
    std::optional<std::expected<json, ResponseError>> answer;
    connection.request("workspace/configuration", json::object(),
                       [&](auto outcome) { answer = std::move(outcome); });
    const json id = json::parse(sent.front()).at("id");
    connection.handle(json{{"id", id}, {"result", {1}}}.dump());
    ASSERT_TRUE(answer && *answer);
    EXPECT_EQ(**answer, json::array({1}));
    answer.reset();
    connection.handle(json{{"id", id}, {"result", {2}}}.dump());
    EXPECT_FALSE(answer) << "a second response to one request";
}

} // namespace
} // namespace kernelskill::lsp
