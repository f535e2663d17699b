/// The form of requests to a service and of its answers: every difference between services in HTTP
/// and JSON.
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

/// The part of a reply that has arrived.
struct PartialReply {
    ModelReply reply;
    bool isComplete = false; ///< The service marked the end; nothing after it is read.
    struct Trouble {
        std::string what;
        bool isTransient = false; ///< The service is overloaded: try again.
    };
    std::optional<Trouble> trouble;
};

class Dialect {
public:
    virtual ~Dialect() = default;
    /// "anthropic", "openai"
    [[nodiscard]] virtual std::string_view name() const = 0;
    /// `base` is the endpoint without a trailing slash.
    [[nodiscard]] virtual HttpRequest request(const std::string& base, const std::string& model,
                                              const ApiKey& key,
                                              const ModelPrompt& prompt) const = 0;
    /// Adds the contents of `event`. Ignores events of unknown types.
    virtual void take(const ServerSentEvent& event, PartialReply& partial) const = 0;
};

[[nodiscard]] std::unique_ptr<Dialect> makeAnthropicDialect();
/// The dialect of OpenAI's chat completions, which many servers use.
[[nodiscard]] std::unique_ptr<Dialect> makeOpenAiDialect();

/// The message of a service's error, in JSON or not, as short printable ASCII.
[[nodiscard]] std::string serviceMessage(std::string_view body);

} // namespace kernelskill::engine
