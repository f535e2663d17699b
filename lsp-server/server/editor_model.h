/// The editor's own language model, asked by a request to the client.
#pragma once

#include "engine/model/language_model.h"
#include "lsp-server/transport/connection.h"

#include <chrono>
#include <string>

namespace kernelskill::lsp {

/// Sends `kernelskill/languageModel`:
///   params {system: string, messages: [{role: "user" | "assistant", text: string}],
///           maxOutputTokens: integer}
///   result {text: string, model?: string, end?: "length" | "refused",
///           usage?: {inputTokens: integer, outputTokens: integer}}
/// A client that has one announces it: capabilities.experimental.kernelskill.languageModel: true.
class EditorModel final : public engine::LanguageModel {
public:
    static constexpr std::chrono::milliseconds patience{300'000};

    /// `connection` outlives the model.
    explicit EditorModel(Connection& connection, std::chrono::milliseconds time = patience)
        : connection_(connection), time_(time) {}

    [[nodiscard]] std::string name() const override { return "the editor's model"; }
    /// Not on the loop's thread, which brings the answer. When it is cancelled or too late, the
    /// client is told by $/cancelRequest.
    [[nodiscard]] Result<engine::ModelReply> ask(const engine::ModelPrompt& prompt,
                                                 std::stop_token stop,
                                                 const engine::ReplyProgress& progress) override;

private:
    Connection& connection_;
    std::chrono::milliseconds time_;
};

} // namespace kernelskill::lsp
