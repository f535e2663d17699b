/// A language model: takes text and returns text. The text is only a proposal: the caller checks it
/// by rules and lets the Reviewer decide.
#pragma once

#include "analysis/source/error.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct ModelMessage {
    enum class Role : std::uint8_t { User, Model };
    Role role = Role::User;
    std::string text;
};

struct ModelPrompt {
    std::string system; ///< The model's role and rights; empty if there are none.
    /// Alternate between user and model; the last one is the user's.
    std::vector<ModelMessage> messages;
    int maxOutputTokens = 8192;
};

struct TokenUsage {
    std::uint64_t input = 0;
    std::uint64_t output = 0;
    [[nodiscard]] std::uint64_t sum() const { return input + output; }
    bool operator==(const TokenUsage&) const = default;
};

enum class ReplyEnd : std::uint8_t {
    Finished,
    LengthLimit, ///< The limit on tokens cut the text off.
    Refused,     ///< The model or its service declined.
};

struct ModelReply {
    std::string text;
    ReplyEnd end = ReplyEnd::Finished;
    std::string model = {}; ///< The service's name of the answering model; empty if unknown.
    TokenUsage usage = {};
    bool isUsageKnown = false; ///< Whether the service counted tokens; if false, `usage` is zero.
};

/// Called with the number of bytes so far, from the asking thread. The text must not be shown
/// before it was judged. May be empty.
using ReplyProgress = std::function<void(std::size_t)>;

class LanguageModel {
public:
    virtual ~LanguageModel() = default;
    /// For reports: "anthropic claude-x".
    [[nodiscard]] virtual std::string name() const = 0;
    /// Blocks, up to minutes. Errors: Missing if there can be no answer (no key, no right to use
    /// the model, budget spent); Failed if the service or the connection failed; Cancelled, at
    /// once, on `stop`. Errors never contain a key. Thread-safe.
    [[nodiscard]] virtual Result<ModelReply> ask(const ModelPrompt& prompt, std::stop_token stop,
                                                 const ReplyProgress& progress) = 0;
};

/// The tokens of a text, estimated from its length. Code has three to four bytes per token, so the
/// estimate is rather too high.
[[nodiscard]] constexpr std::uint64_t estimatedTokens(std::size_t bytes) {
    return (bytes + 1) / 2;
}
[[nodiscard]] std::uint64_t estimatedInputTokens(const ModelPrompt& prompt);

} // namespace kernelskill::engine
