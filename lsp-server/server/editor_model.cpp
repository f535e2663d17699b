#include "lsp-server/server/editor_model.h"

#include "analysis/source/json.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

constexpr std::size_t maxReply = 1u << 20;

/// Shared with the handler, which may come when complete() has returned.
struct Mailbox {
    std::mutex mutex;
    std::condition_variable_any arrived;
    std::optional<std::expected<json, ResponseError>> answer;
};

json paramsOf(const engine::ModelPrompt& prompt) {
    json messages = json::array();
    for (const engine::ModelMessage& message : prompt.messages) {
        const bool isUsers = message.role == engine::ModelMessage::Role::User;
        messages.push_back({{"role", isUsers ? "user" : "assistant"}, {"text", message.text}});
    }
    return {{"system", prompt.system},
            {"messages", std::move(messages)},
            {"maxOutputTokens", prompt.maxOutputTokens}};
}

std::unexpected<Error> failed(ErrorKind kind, std::string what) {
    return std::unexpected(Error{kind, std::move(what), "kernelskill/languageModel", {}});
}

Result<engine::ModelReply> replyOf(const json& result) {
    if (!result.is_object() || !result.contains("text") || !result["text"].is_string())
        return failed(ErrorKind::Failed, "the editor's language model answered without a text");
    engine::ModelReply reply;
    reply.text = result["text"].get<std::string>();
    if (reply.text.size() > maxReply)
        return failed(ErrorKind::Failed, "the reply of the editor's language model is too long");
    const auto textOf = [&](const char* name) {
        const auto field = result.find(name);
        return field != result.end() && field->is_string() ? field->get<std::string>()
                                                           : std::string();
    };
    reply.model = textOf("model");
    const std::string end = textOf("end");
    reply.end = end == "length"    ? engine::ReplyEnd::LengthLimit
                : end == "refused" ? engine::ReplyEnd::Refused
                                   : engine::ReplyEnd::Finished;
    if (const auto usage = result.find("usage"); usage != result.end() && usage->is_object()) {
        const auto input = usage->find("inputTokens");
        const auto output = usage->find("outputTokens");
        reply.isUsageKnown = input != usage->end() && input->is_number_unsigned() &&
                             output != usage->end() && output->is_number_unsigned();
        if (reply.isUsageKnown)
            reply.usage = {input->get<std::uint64_t>(), output->get<std::uint64_t>()};
    }
    return reply;
}

} // namespace

Result<engine::ModelReply> EditorModel::ask(const engine::ModelPrompt& prompt, std::stop_token stop,
                                            const engine::ReplyProgress& progress) {
    const auto mailbox = std::make_shared<Mailbox>();
    const std::int64_t id =
        connection_.request("kernelskill/languageModel", paramsOf(prompt),
                            [mailbox](std::expected<json, ResponseError> answer) {
                                {
                                    const std::scoped_lock lock(mailbox->mutex);
                                    mailbox->answer = std::move(answer);
                                }
                                mailbox->arrived.notify_all();
                            });
    std::unique_lock lock(mailbox->mutex);
    mailbox->arrived.wait_for(lock, stop, time_, [&] { return mailbox->answer.has_value(); });
    if (!mailbox->answer) {
        lock.unlock();
        connection_.notify("$/cancelRequest", {{"id", id}});
        return stop.stop_requested() ? failed(ErrorKind::Cancelled, "cancelled")
                                     : failed(ErrorKind::Failed,
                                              "the editor's language model did not answer in time");
    }
    if (!*mailbox->answer)
        return failed(ErrorKind::Failed,
                      "the editor's language model failed: " + mailbox->answer->error().message);
    auto reply = replyOf(**mailbox->answer);
    if (reply && progress)
        progress(reply->text.size());
    return reply;
}

} // namespace kernelskill::lsp
