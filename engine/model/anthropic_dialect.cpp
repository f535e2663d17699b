#include "analysis/source/json.h"
#include "analysis/source/json_reading.h"
#include "engine/model/dialect.h"
#include "engine/model/event_json.h"

#include <algorithm>

namespace kernelskill::engine {
namespace {

using nlohmann::json;

/// The dialect of the Messages API. Its events are documented at
/// https://docs.anthropic.com/en/docs/build-with-claude/streaming.
class AnthropicDialect final : public Dialect {
public:
    [[nodiscard]] std::string_view name() const override { return "anthropic"; }

    [[nodiscard]] HttpRequest request(const std::string& base, const std::string& model,
                                      const ApiKey& key, const ModelPrompt& prompt) const override {
        json messages = json::array();
        for (const ModelMessage& message : prompt.messages)
            messages.push_back(
                {{"role", message.role == ModelMessage::Role::User ? "user" : "assistant"},
                 {"content", message.text}});
        json body{{"model", model},
                  {"max_tokens", prompt.maxOutputTokens},
                  {"stream", true},
                  {"messages", std::move(messages)}};
        if (!prompt.system.empty())
            body["system"] = prompt.system;
        HttpRequest request{base + "/v1/messages",
                            {"content-type: application/json", "accept: text/event-stream",
                             "anthropic-version: 2023-06-01"},
                            body.dump(-1, ' ', false, json::error_handler_t::replace)};
        if (!key.isEmpty())
            request.headers.push_back("x-api-key: " + std::string(key.reveal()));
        return request;
    }

    void take(const ServerSentEvent& event, PartialReply& partial) const override {
        const json data = analysis::parseJson(event.data);
        if (data.is_discarded()) {
            partial.trouble = {"an event of the reply is not JSON", false};
            return;
        }
        const std::string type = textAt(data, "/type");
        ModelReply& reply = partial.reply;
        if (type == "message_start") {
            reply.model = textAt(data, "/message/model");
            takeUsage(valueAt(data, "/message/usage"), reply);
        } else if (type == "content_block_delta") {
            if (textAt(data, "/delta/type") == "text_delta")
                reply.text += textAt(data, "/delta/text");
        } else if (type == "message_delta") {
            takeUsage(valueAt(data, "/usage"), reply);
            const std::string reason = textAt(data, "/delta/stop_reason");
            if (reason == "max_tokens" || reason == "model_context_window_exceeded")
                reply.end = ReplyEnd::LengthLimit;
            else if (reason == "refusal")
                reply.end = ReplyEnd::Refused;
        } else if (type == "message_stop") {
            partial.isComplete = true;
        } else if (type == "error") {
            const std::string kind = textAt(data, "/error/type");
            partial.trouble = {serviceMessage(event.data),
                               kind == "overloaded_error" || kind == "rate_limit_error" ||
                                   kind == "api_error" || kind == "timeout_error"};
        }
    }

private:
    /// Each count covers the message from its start and may arrive once or repeatedly.
    static void takeUsage(const json& usage, ModelReply& reply) {
        if (!usage.is_object())
            return;
        reply.isUsageKnown = true;
        const std::uint64_t input = countAt(usage, "/input_tokens") +
                                    countAt(usage, "/cache_creation_input_tokens") +
                                    countAt(usage, "/cache_read_input_tokens");
        reply.usage.input = std::max(reply.usage.input, input);
        reply.usage.output = std::max(reply.usage.output, countAt(usage, "/output_tokens"));
    }
};

} // namespace

std::unique_ptr<Dialect> makeAnthropicDialect() {
    return std::make_unique<AnthropicDialect>();
}

} // namespace kernelskill::engine
