#include "engine/model/http_model.h"

#include "engine/model/sse_reader.h"

#include <spdlog/fmt/fmt.h>

#include <random>
#include <utility>

namespace kernelskill::engine {
namespace {

/// The maximum size of an error's body: enough for its message.
constexpr std::size_t maxErrorBodyBytes = 16u << 10;
constexpr std::string_view eventStream = "text/event-stream";

std::string trimmedUrl(std::string url) {
    while (url.ends_with('/'))
        url.pop_back();
    return url;
}

double jitter() {
    std::random_device entropy;
    return static_cast<double>(entropy()) / (static_cast<double>(std::random_device::max()) + 1);
}

} // namespace

HttpModel::HttpModel(std::unique_ptr<Dialect> dialect, HttpModelOptions options)
    : dialect_(std::move(dialect)), options_(std::move(options)) {
    options_.endpoint = trimmedUrl(std::move(options_.endpoint));
}

std::string HttpModel::name() const {
    return fmt::format("{} {}", dialect_->name(), options_.model);
}

/// The state of one attempt to get an answer.
struct HttpModel::Attempt {
    const Dialect& dialect;
    const ReplyProgress& progress;
    std::size_t maxReplyBytes;
    SseReader events;
    PartialReply partial;
    std::string errorBody;
    bool isTooLong = false;

    bool take(const HttpHead& head, std::string_view bytes) {
        if (head.status != 200 || head.contentType != eventStream) {
            errorBody.append(bytes.substr(0, maxErrorBodyBytes - errorBody.size()));
            return errorBody.size() < maxErrorBodyBytes;
        }
        const std::size_t before = partial.reply.text.size();
        const bool fits = events.feed(bytes, [&](const ServerSentEvent& event) {
            if (!isOver())
                dialect.take(event, partial);
        });
        isTooLong = !fits || partial.reply.text.size() > maxReplyBytes;
        if (progress && partial.reply.text.size() > before)
            progress(partial.reply.text.size());
        return !isTooLong && !isOver();
    }
    [[nodiscard]] bool isOver() const { return partial.isComplete || partial.trouble; }
};

HttpFailure HttpModel::statusFailure(const HttpHead& head, std::string_view body) const {
    const std::string message = options_.key.hiddenIn(serviceMessage(body));
    const std::string said = message.empty() ? "" : ": " + message;
    if (head.status == 401 || head.status == 403)
        return {{ErrorKind::Missing,
                 fmt::format("it refused the key ({}){}", head.status, said),
                 {},
                 "check the variable that kernelskill.model.apiKeyVariable names"},
                false};
    if (head.status >= 300 && head.status < 400)
        return {{ErrorKind::Failed,
                 fmt::format("it answered {}, a redirection, which is not followed", head.status),
                 {},
                 "set kernelskill.model.endpoint to where it leads"},
                false};
    return {{ErrorKind::Failed, fmt::format("it answered {}{}", head.status, said), {}, {}},
            isTransientStatus(head.status)};
}

std::expected<ModelReply, HttpFailure> HttpModel::attempt(const ModelPrompt& prompt,
                                                          const std::stop_token& stop,
                                                          const ReplyProgress& progress,
                                                          std::string& retryAfterHeader) const {
    const auto failed = [](std::string what, bool isTransient) {
        return std::unexpected(
            HttpFailure{{ErrorKind::Failed, std::move(what), {}, {}}, isTransient});
    };
    Attempt attempt{*dialect_, progress, options_.maxReplyBytes, SseReader(options_.maxReplyBytes),
                    {},        {}};
    const auto head = post(
        dialect_->request(options_.endpoint, options_.model, options_.key, prompt), options_.limits,
        stop, [&](const HttpHead& h, std::string_view bytes) { return attempt.take(h, bytes); });
    PartialReply& partial = attempt.partial;
    if (!head) {
        HttpFailure failure = head.error();
        failure.isTransient = failure.isTransient && partial.reply.text.empty();
        return std::unexpected(std::move(failure));
    }
    retryAfterHeader = head->retryAfter;
    if (head->status != 200)
        return std::unexpected(statusFailure(*head, attempt.errorBody));
    if (head->contentType != eventStream)
        return failed(fmt::format("it answered with '{}', not with a stream of events",
                                  serviceMessage(head->contentType)),
                      false);
    if (attempt.isTooLong)
        return failed(fmt::format("its reply is longer than {} bytes", options_.maxReplyBytes),
                      false);
    if (partial.trouble)
        return failed(options_.key.hiddenIn(partial.trouble->what),
                      partial.trouble->isTransient && partial.reply.text.empty());
    if (!partial.isComplete)
        return failed("its reply was cut off", partial.reply.text.empty());
    if (options_.key.isIn(partial.reply.text) || options_.key.isIn(partial.reply.model))
        return failed("its reply holds the key", false);
    return std::move(partial.reply);
}

Result<ModelReply> HttpModel::ask(const ModelPrompt& prompt, std::stop_token stop,
                                  const ReplyProgress& progress) {
    for (int number = 1;; ++number) {
        std::string asked;
        auto reply = attempt(prompt, stop, progress, asked);
        if (reply)
            return std::move(*reply);
        HttpFailure& failure = reply.error();
        if (failure.error.kind == ErrorKind::Cancelled || stop.stop_requested())
            return std::unexpected(Error{ErrorKind::Cancelled, "cancelled", name(), {}});
        const auto wait =
            failure.isTransient
                ? waitBeforeRetry(options_.retry, number,
                                  retryAfter(asked, std::chrono::system_clock::now()), jitter())
                : std::nullopt;
        if (!wait) {
            failure.error.what = fmt::format(
                "the language model gave no answer{}: {}{}",
                number > 1 ? fmt::format(" in {} attempts", number) : "", failure.error.what,
                failure.isTransient && !asked.empty() && number < options_.retry.attempts
                    ? "; it asks for a longer wait than the limit"
                    : "");
            failure.error.where = name();
            return std::unexpected(std::move(failure.error));
        }
        if (!waitFor(*wait, stop))
            return std::unexpected(Error{ErrorKind::Cancelled, "cancelled", name(), {}});
    }
}

} // namespace kernelskill::engine
