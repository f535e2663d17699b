#include "analysis/source/json.h"
#include "analysis/source/json_reading.h"
#include "engine/model/dialect.h"
#include "engine/model/event_json.h"

namespace kernelskill::engine {
namespace {

using nlohmann::json;

class OpenAiDialect final : public Dialect {
public:
    [[nodiscard]] std::string_view name() const override { return "openai"; }

    [[nodiscard]] HttpRequest request(const std::string& base, const std::string& model,
                                      const ApiKey& key, const ModelPrompt& prompt) const override {
        json messages = json::array();
        if (!prompt.system.empty())
            messages.push_back({{"role", "system"}, {"content", prompt.system}});
        for (const ModelMessage& message : prompt.messages)
            messages.push_back(
                {{"role", message.role == ModelMessage::Role::User ? "user" : "assistant"},
                 {"content", message.text}});
        // OpenAI's reasoning models refuse the older name, but some servers know only that.
        const char* limit =
            base.starts_with("https://api.openai.com") ? "max_completion_tokens" : "max_tokens";
        const json body{{"model", model},
                        {limit, prompt.maxOutputTokens},
                        {"stream", true},
                        {"stream_options", {{"include_usage", true}}},
                        {"messages", std::move(messages)}};
        HttpRequest request{base + "/chat/completions",
                            {"content-type: application/json", "accept: text/event-stream"},
                            body.dump(-1, ' ', false, json::error_handler_t::replace)};
        if (!key.isEmpty())
            request.headers.push_back("authorization: Bearer " + std::string(key.reveal()));
        return request;
    }

    void take(const ServerSentEvent& event, PartialReply& partial) const override {
        if (event.data == "[DONE]") {
            partial.isComplete = true;
            return;
        }
        const json data = analysis::parseJson(event.data);
        if (data.is_discarded()) {
            partial.trouble = {"an event of the reply is not JSON", false};
            return;
        }
        if (const json error = valueAt(data, "/error"); !error.is_null()) {
            const auto code = analysis::integerIn<int>(valueAt(data, "/error/code"));
            const std::string kind = textAt(data, "/error/type");
            const bool isTransientCode = code && isTransientStatus(*code);
            partial.trouble = {serviceMessage(event.data),
                               isTransientCode || kind == "server_error" || kind == "overloaded" ||
                                   kind == "rate_limit_exceeded"};
            return;
        }
        ModelReply& reply = partial.reply;
        if (const std::string model = textAt(data, "/model"); !model.empty())
            reply.model = model;
        reply.text += textAt(data, "/choices/0/delta/content");
        const std::string reason = textAt(data, "/choices/0/finish_reason");
        if (reason == "length")
            reply.end = ReplyEnd::LengthLimit;
        else if (reason == "content_filter")
            reply.end = ReplyEnd::Refused;
        if (valueAt(data, "/usage").is_object()) {
            reply.isUsageKnown = true;
            reply.usage = {countAt(data, "/usage/prompt_tokens"),
                           countAt(data, "/usage/completion_tokens")};
        }
    }
};

} // namespace

std::unique_ptr<Dialect> makeOpenAiDialect() {
    return std::make_unique<OpenAiDialect>();
}

} // namespace kernelskill::engine
