/// A language model: text in, text out. What it says is a proposal and nothing else; whoever asks
/// judges the text by rule and lets the Reviewer decide.
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
    std::string system; ///< Who the model is and what it may do; empty: nothing is said.
    std::vector<ModelMessage> messages; ///< In turns, the last one the user's.
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
    LengthLimit, ///< Of tokens: the text is cut off.
    Refused,     ///< The model or its service declined.
};

struct ModelReply {
    std::string text;
    ReplyEnd end = ReplyEnd::Finished;
    std::string model = {}; ///< That answered, as the service calls it; empty when it did not say.
    TokenUsage usage = {};
    bool isUsageKnown = false; ///< The service counted; else `usage` is zero.
};

/// Called with the bytes of text so far, from the thread that asks. The text itself is nobody's to
/// show before it was judged. May be empty.
using ReplyProgress = std::function<void(std::size_t)>;

class LanguageModel {
public:
    virtual ~LanguageModel() = default;
    /// For reports: "anthropic claude-x".
    [[nodiscard]] virtual std::string name() const = 0;
    /// Blocks, for up to minutes. Missing without an answer to be had (no key, no right to use the
    /// model, budget spent); Failed when the service or the way to it failed; Cancelled, at once,
    /// when `stop` asks. Errors hold no key. Thread-safe.
    [[nodiscard]] virtual Result<ModelReply> ask(const ModelPrompt& prompt, std::stop_token stop,
                                                 const ReplyProgress& progress) = 0;
};

/// Of text, by its length: code has three to four bytes a token, so that this is rather too many.
[[nodiscard]] constexpr std::uint64_t estimatedTokens(std::size_t bytes) {
    return (bytes + 1) / 2;
}
[[nodiscard]] std::uint64_t estimatedInputTokens(const ModelPrompt& prompt);

} // namespace kernelskill::engine
