/// The user's settings for a language model, and the model that they describe.
#pragma once

#include "engine/model/model_budget.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace kernelskill::engine {

enum class ModelProvider : std::uint8_t { Anthropic, OpenAi, Editor };
/// "anthropic", "openai", "editor"
[[nodiscard]] std::string_view spelling(ModelProvider provider);
[[nodiscard]] std::optional<ModelProvider> modelProviderNamed(std::string_view name);

/// Contains no key, only the name of the environment variable with the key.
struct ModelSettings {
    bool isEnabled = false;
    ModelProvider provider = ModelProvider::Anthropic;
    std::string endpoint = {};       ///< If empty, the provider's own.
    std::string name = {};           ///< The provider's name of the model.
    std::string apiKeyVariable = {}; ///< If empty, the endpoint needs no key.
    TokenPrices prices = {};
    ModelBudget budget = {};
};

/// Returns the model that an editor offers through its client. It is valid as long as the client is
/// connected. Null if the editor offers none.
using EditorModelSource = std::function<std::unique_ptr<LanguageModel>()>;

/// Missing if the model is turned off, has no name or no key, or the editor offers none.
/// InvalidInput if the endpoint cannot be used: a key is sent to another machine only over https,
/// and a limit on cost needs prices. Makes no connection.
[[nodiscard]] Result<std::unique_ptr<BudgetedModel>>
makeLanguageModel(const ModelSettings& settings, const EditorModelSource& editor = nullptr);

/// The endpoint in `settings`, or the provider's own; empty for the editor's model.
[[nodiscard]] std::string endpointOf(const ModelSettings& settings);

/// Whether the model can be asked: makeLanguageModel() succeeds and the endpoint accepts a
/// connection. Sends no request. The text says what was found.
[[nodiscard]] Result<std::string> probeLanguageModel(const ModelSettings& settings,
                                                     std::chrono::milliseconds time,
                                                     std::stop_token stop);

} // namespace kernelskill::engine
