/// The editor's model over a connection whose other end the test plays.
#include "analysis/source/json.h"
#include "lsp-server/protocol/client_capabilities.h"
#include "lsp-server/server/editor_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

namespace kernelskill::lsp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

class EditorModelTest : public ::testing::Test {
protected:
    /// Asks, and answers as the client with what `answer` makes of the request; null: nothing.
    Result<engine::ModelReply> ask(const std::function<json(const json&)>& answer,
                                   std::chrono::milliseconds time = 20s,
                                   std::stop_token stop = {}) {
        EditorModel model(connection_, time);
        auto reply = std::async(std::launch::async, [&] {
            return model.ask({"be brief", {{engine::ModelMessage::Role::User, "how?"}}, 50},
                             std::move(stop), {});
        });
        const json request = sent(0);
        if (const json response = answer(request); !response.is_null())
            connection_.handle(response.dump());
        return reply.get();
    }
    /// The message number `index`, once it was sent; null after some seconds.
    json sent(std::size_t index) {
        std::unique_lock lock(mutex_);
        arrived_.wait_for(lock, 10s, [&] { return messages_.size() > index; });
        return messages_.size() > index ? json::parse(messages_[index]) : json();
    }
    static json response(const json& request, const json& result) {
        return {{"jsonrpc", "2.0"}, {"id", request.at("id")}, {"result", result}};
    }

    std::mutex mutex_;
    std::condition_variable arrived_;
    std::vector<std::string> messages_;
    spdlog::logger log_{"test", std::make_shared<spdlog::sinks::null_sink_mt>()};
    Connection connection_{[this](std::string body) {
                               const std::scoped_lock lock(mutex_);
                               messages_.push_back(std::move(body));
                               arrived_.notify_all();
                           },
                           log_};
};

TEST_F(EditorModelTest, AsksTheClientAndReadsItsReply) {
    json request;
    const auto reply = ask([&](const json& asked) {
        request = asked;
        return response(
            asked,
            {{"text", "so"}, {"model", "m"}, {"usage", {{"inputTokens", 7}, {"outputTokens", 2}}}});
    });
    ASSERT_TRUE(reply) << reply.error().describe();
    EXPECT_EQ(reply->text, "so");
    EXPECT_EQ(reply->model, "m");
    EXPECT_TRUE(reply->isUsageKnown);
    EXPECT_EQ(reply->usage, (engine::TokenUsage{7, 2}));
    EXPECT_EQ(request.at("method"), "kernelskill/languageModel");
    EXPECT_EQ(request.at("params"), json::parse(R"({"system": "be brief", "maxOutputTokens": 50,
                              "messages": [{"role": "user", "text": "how?"}]})"));
}

TEST_F(EditorModelTest, KnowsCutAndRefusedReplies) {
    EXPECT_EQ(ask([](const json& asked) {
                  return response(asked, {{"text", "x"}, {"end", "length"}});
              })->end,
              engine::ReplyEnd::LengthLimit);
}

TEST_F(EditorModelTest, WhatIsNoReplyIsAnError) {
    const auto reply = ask([](const json& asked) { return response(asked, json::array({1})); });
    ASSERT_FALSE(reply);
    EXPECT_THAT(reply.error().what, HasSubstr("without a text"));
}

TEST_F(EditorModelTest, AnErrorOfTheClientIsAnError) {
    const auto reply = ask([](const json& asked) -> json {
        return {{"id", asked.at("id")}, {"error", {{"code", 1}, {"message", "no consent"}}}};
    });
    ASSERT_FALSE(reply);
    EXPECT_THAT(reply.error().what, HasSubstr("no consent"));
}

TEST_F(EditorModelTest, CancelsTheRequestWhenItIsCancelledOrLate) {
    std::stop_source stop;
    json request;
    const auto cancelled = ask(
        [&](const json& asked) -> json {
            request = asked;
            stop.request_stop();
            return nullptr;
        },
        20s, stop.get_token());
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().kind, ErrorKind::Cancelled);
    EXPECT_EQ(sent(1).at("method"), "$/cancelRequest");
    EXPECT_EQ(sent(1).at("params").at("id"), request.at("id"));
    // A late answer has no receiver any more, and does no harm.
    connection_.handle(response(request, {{"text", "late"}}).dump());
}

TEST_F(EditorModelTest, DoesNotWaitForever) {
    const auto late = ask([](const json&) { return json(); }, 30ms);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().kind, ErrorKind::Failed);
    EXPECT_THAT(late.error().what, HasSubstr("in time"));
}

TEST(EditorModelCapability, IsTheClientsToAnnounce) {
    const auto with = json::parse(R"({"experimental": {"kernelskill": {"languageModel": true}}})");
    EXPECT_TRUE(with.get<ClientCapabilities>().languageModel);
    EXPECT_FALSE(json::object().get<ClientCapabilities>().languageModel);
}

} // namespace
} // namespace kernelskill::lsp
