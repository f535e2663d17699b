/// Which language model to ask, as the user set it, and the model that follows from it.
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

/// No key is in here, only the name of the environment variable that holds it.
struct ModelSettings {
    bool isEnabled = false;
    ModelProvider provider = ModelProvider::Anthropic;
    std::string endpoint = {};       ///< Empty: the provider's own.
    std::string name = {};           ///< Of the model, as the provider calls it.
    std::string apiKeyVariable = {}; ///< Empty: the endpoint wants no key.
    TokenPrices prices = {};
    ModelBudget budget = {};
};

/// The model that an editor gives through its client, for as long as the client is there; null:
/// it gives none.
using EditorModelSource = std::function<std::unique_ptr<LanguageModel>()>;

/// Missing where the model is turned off, has no name or no key, or the editor gives none;
/// InvalidInput for an endpoint that cannot be used: a key goes to another machine by https alone,
/// and a limit on cost needs prices. Calls nobody.
[[nodiscard]] Result<std::unique_ptr<BudgetedModel>>
makeLanguageModel(const ModelSettings& settings, const EditorModelSource& editor = nullptr);

/// The endpoint that `settings` mean: theirs or the provider's own; empty for the editor's.
[[nodiscard]] std::string endpointOf(const ModelSettings& settings);

/// Whether the model could be asked: what makeLanguageModel() refuses, then a connection to the
/// endpoint, over which nothing is asked. The text says what was found.
[[nodiscard]] Result<std::string> probeLanguageModel(const ModelSettings& settings,
                                                     std::chrono::milliseconds time,
                                                     std::stop_token stop);

} // namespace kernelskill::engine
