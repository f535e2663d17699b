/// How a service wants to be asked, and how it answers: everything about HTTP and JSON that differs
/// from one to another.
#pragma once

#include "engine/model/api_key.h"
#include "engine/model/http_transport.h"
#include "engine/model/language_model.h"
#include "engine/model/sse_reader.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// What has been heard of a reply so far.
struct PartialReply {
    ModelReply reply;
    bool isComplete = false; ///< The service said so: what follows is not read.
    struct Trouble {
        std::string what;
        bool isTransient = false; ///< Overloaded: worth another try.
    };
    std::optional<Trouble> trouble;
};

class Dialect {
public:
    virtual ~Dialect() = default;
    /// "anthropic", "openai"
    [[nodiscard]] virtual std::string_view name() const = 0;
    /// `base` is the endpoint without a slash at its end.
    [[nodiscard]] virtual HttpRequest request(const std::string& base, const std::string& model,
                                              const ApiKey& key,
                                              const ModelPrompt& prompt) const = 0;
    /// Adds what `event` says. Events of unknown types say nothing.
    virtual void take(const ServerSentEvent& event, PartialReply& partial) const = 0;
};

[[nodiscard]] std::unique_ptr<Dialect> makeAnthropicDialect();
/// Of OpenAI's chat completions, which many servers speak.
[[nodiscard]] std::unique_ptr<Dialect> makeOpenAiDialect();

/// The message of an error that a service answered with, in JSON or not; short, printable ASCII.
[[nodiscard]] std::string serviceMessage(std::string_view body);

} // namespace kernelskill::engine
