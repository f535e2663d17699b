/// A language model behind an HTTP endpoint that streams its replies.
#pragma once

#include "engine/model/api_key.h"
#include "engine/model/dialect.h"
#include "engine/model/http_transport.h"
#include "engine/model/language_model.h"
#include "engine/model/retry.h"

#include <memory>
#include <string>

namespace kernelskill::engine {

struct HttpModelOptions {
    std::string endpoint = {}; ///< "https://api.anthropic.com", without a trailing slash.
    std::string model = {};
    ApiKey key = {};
    HttpLimits limits = {};
    RetryPolicy retry = {};
    std::size_t maxReplyBytes = 1u << 20; ///< Limit of the reply's text.
};

class HttpModel final : public LanguageModel {
public:
    HttpModel(std::unique_ptr<Dialect> dialect, HttpModelOptions options);

    [[nodiscard]] std::string name() const override;
    /// If the service is overloaded or unreachable, asks again as the policy says. Never asks again
    /// once text has arrived, because that text is paid for.
    [[nodiscard]] Result<ModelReply> ask(const ModelPrompt& prompt, std::stop_token stop,
                                         const ReplyProgress& progress) override;

private:
    struct Attempt;
    [[nodiscard]] std::expected<ModelReply, HttpFailure>
    attempt(const ModelPrompt& prompt, const std::stop_token& stop, const ReplyProgress& progress,
            std::string& retryAfterHeader) const;
    [[nodiscard]] HttpFailure statusFailure(const HttpHead& head, std::string_view body) const;

    std::unique_ptr<Dialect> dialect_;
    HttpModelOptions options_;
};

} // namespace kernelskill::engine
