/// Both dialects against a server on this machine that answers well, slowly, wrongly or not at all.
#include "analysis/source/json.h"
#include "engine/model/http_model.h"
#include "engine/model/model_settings.h"
#include "tests/engine/model/local_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::Answer;
using kernelskill::testing::anthropicReply;
using kernelskill::testing::http;
using kernelskill::testing::LocalServer;
using kernelskill::testing::openAiReply;
using kernelskill::testing::repliedInputTokens;
using kernelskill::testing::repliedOutputTokens;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::chrono_literals;

constexpr const char* secret = "sk-test-0123456789abcdef";

struct Service {
    const char* name;
    std::unique_ptr<Dialect> (*dialect)();
    std::string (*reply)(std::string_view);
    const char* path;
    const char* keyHeader;
};

class HttpModelTest : public ::testing::TestWithParam<Service> {
protected:
    [[nodiscard]] HttpModel model(const LocalServer& server) const {
        HttpModelOptions options = options_;
        options.endpoint = server.url() + "/";
        options.model = "some-model";
        options.key = *ApiKey::from(secret);
        return HttpModel(GetParam().dialect(), std::move(options));
    }
    [[nodiscard]] Result<ModelReply> ask(const LocalServer& server,
                                         std::stop_token stop = {}) const {
        return model(server).ask(prompt_, std::move(stop), {});
    }
    /// The result of a single answer of the server, without a retry.
    [[nodiscard]] Error errorOf(Answer answer) {
        options_.retry.attempts = 1;
        const LocalServer server({std::move(answer)});
        const auto reply = ask(server);
        EXPECT_FALSE(reply) << reply->text;
        const Error error = reply ? Error{} : reply.error();
        EXPECT_THAT(error.describe(), Not(HasSubstr(secret)));
        return error;
    }
    [[nodiscard]] static Answer good() { return {{GetParam().reply("all is well")}}; }

    HttpModelOptions options_{.retry = {3, 5ms, 500ms}};
    ModelPrompt prompt_{"be brief", {{ModelMessage::Role::User, "how is it? \xff"}}, 77};
};

TEST_P(HttpModelTest, AsksWithTheKeyAndReadsTextUsageAndModel) {
    const LocalServer server({good()});
    std::vector<std::size_t> sizes;
    const auto reply =
        model(server).ask(prompt_, {}, [&](std::size_t bytes) { sizes.push_back(bytes); });
    ASSERT_TRUE(reply) << reply.error().describe();
    EXPECT_EQ(reply->text, "all is well");
    EXPECT_EQ(reply->end, ReplyEnd::Finished);
    EXPECT_EQ(reply->model, "played-model");
    EXPECT_TRUE(reply->isUsageKnown);
    EXPECT_EQ(reply->usage, (TokenUsage{repliedInputTokens, repliedOutputTokens}));
    ASSERT_FALSE(sizes.empty());
    EXPECT_TRUE(std::ranges::is_sorted(sizes));
    EXPECT_EQ(sizes.back(), reply->text.size());

    const auto seen = server.requests();
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_THAT(seen[0].head, StartsWith(std::string("POST ") + GetParam().path + " HTTP/1.1"));
    EXPECT_THAT(seen[0].head, HasSubstr(std::string(GetParam().keyHeader) + secret + "\r\n"));
    const auto body = nlohmann::json::parse(seen[0].body);
    EXPECT_EQ(body["model"], "some-model");
    EXPECT_EQ(body["max_tokens"], 77);
    EXPECT_EQ(body["stream"], true);
    EXPECT_THAT(body.dump(), HasSubstr("be brief"));
    EXPECT_THAT(seen[0].body, Not(HasSubstr(secret)));
}

TEST_P(HttpModelTest, TriesAgainWhileTheServiceIsOverloaded) {
    const LocalServer server({{{http(429, "application/json", R"({"error":{"message":"slow"}})",
                                     "Retry-After: 0.2\r\n")}},
                              {{http(503, "text/html", "<html>")}},
                              good()});
    const auto reply = ask(server);
    ASSERT_TRUE(reply) << reply.error().describe();
    EXPECT_EQ(reply->text, "all is well");
    const auto seen = server.requests();
    ASSERT_EQ(seen.size(), 3u);
    EXPECT_GE(seen[1].time - seen[0].time, 200ms) << "Retry-After is honoured";
}

TEST_P(HttpModelTest, GivesUpAfterItsAttemptsAndSaysWhy) {
    const Answer broken{{http(500, "application/json", R"({"error":{"message":"it hurts"}})")}};
    const LocalServer server({broken, broken, broken, good()});
    const auto reply = ask(server);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, ErrorKind::Failed);
    EXPECT_THAT(reply.error().what, HasSubstr("in 3 attempts: it answered 500: it hurts"));
    EXPECT_EQ(server.requests().size(), 3u);
}

TEST_P(HttpModelTest, DoesNotWaitAsLongAsAServiceMayAsk) {
    const LocalServer server(
        {{{http(429, "application/json", "{}", "Retry-After: 3600\r\n")}}, good()});
    const auto reply = ask(server);
    ASSERT_FALSE(reply);
    EXPECT_THAT(reply.error().what, HasSubstr("longer wait than the limit"));
    EXPECT_EQ(server.requests().size(), 1u);
}

TEST_P(HttpModelTest, ARefusedKeyIsNotTriedAgainAndNotShown) {
    const LocalServer server(
        {{{http(401, "application/json",
                std::string(R"({"error":{"message":"bad key )") + secret + "\\n\\u001b[31m\"}}")}},
         good()});
    const auto reply = ask(server);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, ErrorKind::Missing);
    EXPECT_THAT(reply.error().what, HasSubstr("bad key [key]"));
    EXPECT_THAT(reply.error().describe(), Not(HasSubstr(secret)));
    EXPECT_THAT(reply.error().describe(), Not(HasSubstr("\x1b")));
    EXPECT_EQ(server.requests().size(), 1u);
}

TEST_P(HttpModelTest, AReplyThatEchoesTheKeyIsRefused) {
    EXPECT_THAT(errorOf({{GetParam().reply(std::string("int key = \"") + secret + "\";")}}).what,
                HasSubstr("holds the key"));
}

TEST_P(HttpModelTest, RedirectionsAreNotFollowed) {
    const LocalServer elsewhere({good()});
    const Error error =
        errorOf({{http(307, "text/plain", "", "Location: " + elsewhere.url() + "/steal\r\n")}});
    EXPECT_THAT(error.what, HasSubstr("redirection"));
    EXPECT_TRUE(elsewhere.requests().empty());
}

TEST_P(HttpModelTest, ACutStreamIsAnErrorAndNotPaidForTwice) {
    const std::string whole = GetParam().reply("all is well");
    for (const std::size_t kept : {whole.size() / 2, whole.size() - 20}) {
        const LocalServer server({{{whole.substr(0, kept)}}, good()});
        const auto reply = ask(server);
        ASSERT_FALSE(reply);
        EXPECT_THAT(reply.error().what, HasSubstr("cut off"));
        EXPECT_EQ(server.requests().size(), 1u);
    }
}

TEST_P(HttpModelTest, AConnectionThatEndsBeforeAnAnswerIsTriedAgain) {
    const LocalServer server({{}, good()});
    const auto reply = ask(server);
    ASSERT_TRUE(reply) << reply.error().describe();
    EXPECT_EQ(server.requests().size(), 2u);
}

TEST_P(HttpModelTest, BadJsonAndWrongContentTypesAreErrors) {
    EXPECT_THAT(errorOf({{http(200, "text/event-stream", "data: {\"type\": \n\n")}}).what,
                HasSubstr("not JSON"));
    EXPECT_THAT(errorOf({{http(200, "text/html", "<html>please log in</html>")}}).what,
                HasSubstr("'text/html', not with a stream"));
    EXPECT_THAT(errorOf({{http(200, "text/event-stream", "data: [1, {\"a\": null}]\n\n")}}).what,
                HasSubstr("cut off"));
    EXPECT_THAT(errorOf({{"SSH-2.0-OpenSSH\r\n"}}).what, Not(::testing::IsEmpty()));
}

TEST_P(HttpModelTest, AHugeReplyIsCutShort) {
    options_.maxReplyBytes = 4096;
    EXPECT_THAT(errorOf({{GetParam().reply(std::string(20'000, 'x'))}}).what,
                HasSubstr("longer than 4096"));
    EXPECT_THAT(errorOf({{http(200, "text/event-stream", std::string(20'000, 'x'))}}).what,
                HasSubstr("longer than 4096"));
    options_.limits.bytes = 10'000;
    options_.maxReplyBytes = 1'000'000;
    EXPECT_THAT(errorOf({{GetParam().reply(std::string(20'000, 'x'))}}).what,
                HasSubstr("longer than 10000"));
}

TEST_P(HttpModelTest, SilenceAndSlownessTimeOut) {
    options_.limits.silence = 100ms;
    EXPECT_THAT(errorOf({{GetParam().reply("late"), 20s}}).what, HasSubstr("no data arrived"));
    options_.limits = {.silence = 5s, .total = 300ms};
    Answer drip{{http(200, "text/event-stream", "")}};
    for (int i = 0; i < 200; ++i)
        drip.push_back({": wait\n", 20ms});
    EXPECT_THAT(errorOf(std::move(drip)).what, HasSubstr("timed out"));
}

TEST_P(HttpModelTest, CanBeCancelledInTheMiddleOfAStreamAndBetweenAttempts) {
    const std::string whole = GetParam().reply("all is well");
    const std::vector<Answer> scripts[] = {
        {{{whole.substr(0, whole.size() / 2)}, {whole.substr(whole.size() / 2), 20s}}},
        {{{whole, 20s}}},
        {{{http(429, "application/json", "{}", "Retry-After: 20\r\n")}}, good()}};
    options_.retry.longest = 60s;
    for (const auto& script : scripts) {
        const LocalServer server(script);
        std::stop_source stop;
        const std::jthread canceller([&] {
            while (server.requests().empty())
                std::this_thread::sleep_for(1ms);
            std::this_thread::sleep_for(50ms);
            stop.request_stop();
        });
        const auto begin = std::chrono::steady_clock::now();
        const auto reply = ask(server, stop.get_token());
        ASSERT_FALSE(reply);
        EXPECT_EQ(reply.error().kind, ErrorKind::Cancelled);
        EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
    }
}

TEST_P(HttpModelTest, NobodyListeningIsAnError) {
    std::string url;
    {
        const LocalServer gone({});
        url = gone.url();
    }
    HttpModel model(GetParam().dialect(), {.endpoint = url, .model = "m", .retry = {2, 1ms, 1ms}});
    const auto reply = model.ask(prompt_, {}, {});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, ErrorKind::Failed);
    EXPECT_THAT(reply.error().what, HasSubstr("in 2 attempts"));
}

INSTANTIATE_TEST_SUITE_P(Services, HttpModelTest,
                         ::testing::Values(Service{"Anthropic", makeAnthropicDialect,
                                                   anthropicReply, "/v1/messages", "x-api-key: "},
                                           Service{"OpenAi", makeOpenAiDialect, openAiReply,
                                                   "/chat/completions", "authorization: Bearer "}),
                         [](const auto& info) { return info.param.name; });

PartialReply taken(const Dialect& dialect, std::initializer_list<const char*> events) {
    PartialReply partial;
    for (const char* data : events)
        dialect.take({"", data}, partial);
    return partial;
}

TEST(AnthropicDialectTest, KnowsLimitsRefusalsAndOverload) {
    const auto dialect = makeAnthropicDialect();
    EXPECT_EQ(taken(*dialect, {R"({"type":"message_delta","delta":{"stop_reason":"max_tokens"}})"})
                  .reply.end,
              ReplyEnd::LengthLimit);
    EXPECT_EQ(taken(*dialect, {R"({"type":"message_delta","delta":{"stop_reason":"refusal"}})"})
                  .reply.end,
              ReplyEnd::Refused);
    const auto overloaded = taken(
        *dialect, {R"({"type":"error","error":{"type":"overloaded_error","message":"busy"}})"});
    ASSERT_TRUE(overloaded.trouble);
    EXPECT_EQ(overloaded.trouble->what, "busy");
    EXPECT_TRUE(overloaded.trouble->isTransient);
    const auto invalid = taken(
        *dialect, {R"({"type":"error","error":{"type":"invalid_request_error","message":"no"}})"});
    ASSERT_TRUE(invalid.trouble);
    EXPECT_FALSE(invalid.trouble->isTransient);
}

TEST(AnthropicDialectTest, LeavesThoughtsOutAndAddsCachedInput) {
    const auto partial = taken(
        *makeAnthropicDialect(),
        {R"({"type":"message_start","message":{"usage":{"input_tokens":3,"cache_read_input_tokens":4,"cache_creation_input_tokens":5}}})",
         R"({"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}})",
         R"({"type":"content_block_delta","delta":{"type":"text_delta","text":"yes"}})",
         R"({"type":"message_delta","delta":{},"usage":{"output_tokens":9}})"});
    EXPECT_EQ(partial.reply.text, "yes");
    EXPECT_EQ(partial.reply.usage, (TokenUsage{12, 9}));
}

TEST(OpenAiDialectTest, KnowsLimitsRefusalsAndOverload) {
    const auto dialect = makeOpenAiDialect();
    EXPECT_EQ(taken(*dialect, {R"({"choices":[{"delta":{},"finish_reason":"length"}]})"}).reply.end,
              ReplyEnd::LengthLimit);
    EXPECT_EQ(taken(*dialect, {R"({"choices":[{"delta":{},"finish_reason":"content_filter"}]})"})
                  .reply.end,
              ReplyEnd::Refused);
    const auto overloaded =
        taken(*dialect, {R"({"error":{"message":"busy","type":"x","code":503}})"});
    ASSERT_TRUE(overloaded.trouble);
    EXPECT_TRUE(overloaded.trouble->isTransient);
    const auto huge = taken(*dialect, {R"({"error":{"message":"no","code":99999999999999}})"});
    ASSERT_TRUE(huge.trouble);
    EXPECT_FALSE(huge.trouble->isTransient);
    const auto unknown = taken(*dialect, {R"({"error":{"message":"no such model"}})"});
    ASSERT_TRUE(unknown.trouble);
    EXPECT_EQ(unknown.trouble->what, "no such model");
    EXPECT_FALSE(unknown.trouble->isTransient);
}

TEST(EndpointTest, IsAUrlOfHttpWithoutSecrets) {
    for (const char* good : {"https://api.anthropic.com", "http://localhost:8080/v1",
                             "http://[::1]:1", "http://127.0.0.1:1"})
        EXPECT_TRUE(partsOf(good)) << good;
    for (const char* bad : {"", "api.anthropic.com", "file:///etc/passwd", "ftp://host",
                            "https://user:secret@host", "https://host/?key=1", "https://host/#x"})
        EXPECT_FALSE(partsOf(bad)) << bad;
    EXPECT_TRUE(partsOf("http://127.0.0.1:1")->isThisMachine);
    EXPECT_TRUE(partsOf("http://[::1]:1")->isThisMachine);
    for (const char* other : {"http://127.example.org", "http://10.0.0.1", "http://localhost.org"})
        EXPECT_FALSE(partsOf(other)->isThisMachine) << other;
}

} // namespace
} // namespace kernelskill::engine
