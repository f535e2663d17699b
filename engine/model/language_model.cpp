#include "engine/model/language_model.h"

namespace kernelskill::engine {

std::uint64_t estimatedInputTokens(const ModelPrompt& prompt) {
    /// Tokens that a service adds around a message.
    constexpr std::uint64_t frame = 16;
    std::uint64_t tokens = frame + estimatedTokens(prompt.system.size());
    for (const ModelMessage& message : prompt.messages)
        tokens += frame + estimatedTokens(message.text.size());
    return tokens;
}

} // namespace kernelskill::engine
