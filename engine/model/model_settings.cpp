#include "engine/model/model_settings.h"

#include "engine/model/http_model.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

namespace kernelskill::engine {
namespace {

std::unexpected<Error> refused(ErrorKind kind, std::string what, const char* setting,
                               std::string remedy) {
    return std::unexpected(Error{kind, std::move(what), setting, std::move(remedy)});
}

Result<std::unique_ptr<LanguageModel>> makeHttpModel(const ModelSettings& settings) {
    if (settings.name.empty())
        return refused(ErrorKind::Missing, "no language model is named", "kernelskill.model.name",
                       "set it to a model that the endpoint offers");
    HttpModelOptions options;
    options.endpoint = endpointOf(settings);
    options.model = settings.name;
    const auto parts = partsOf(options.endpoint);
    if (!parts)
        return std::unexpected(parts.error());
    auto key = ApiKey::fromEnvironment(settings.apiKeyVariable);
    if (!key)
        return std::unexpected(key.error());
    options.key = std::move(*key);
    if (parts->scheme == "http" && !parts->isThisMachine && !options.key.isEmpty())
        return refused(ErrorKind::InvalidInput, "the key would cross the network unencrypted",
                       "kernelskill.model.endpoint",
                       "use https, or clear kernelskill.model.apiKeyVariable");
    auto dialect = settings.provider == ModelProvider::Anthropic ? makeAnthropicDialect()
                                                                 : makeOpenAiDialect();
    return std::make_unique<HttpModel>(std::move(dialect), std::move(options));
}

Result<std::unique_ptr<LanguageModel>> makeBareModel(const ModelSettings& settings,
                                                     const EditorModelSource& editor) {
    if (settings.provider != ModelProvider::Editor)
        return makeHttpModel(settings);
    auto model = editor ? editor() : nullptr;
    if (!model)
        return refused(ErrorKind::Missing, "this editor offers no language model of its own",
                       "kernelskill.model.provider",
                       "set it to \"anthropic\" or \"openai\", or use an editor that announces "
                       "kernelskill.languageModel");
    return model;
}

} // namespace

std::string_view spelling(ModelProvider provider) {
    switch (provider) {
    case ModelProvider::Anthropic:
        return "anthropic";
    case ModelProvider::OpenAi:
        return "openai";
    case ModelProvider::Editor:
        break;
    }
    return "editor";
}

std::optional<ModelProvider> modelProviderNamed(std::string_view name) {
    for (const auto provider :
         {ModelProvider::Anthropic, ModelProvider::OpenAi, ModelProvider::Editor})
        if (name == spelling(provider))
            return provider;
    return std::nullopt;
}

std::string endpointOf(const ModelSettings& settings) {
    if (settings.provider == ModelProvider::Editor)
        return {};
    if (!settings.endpoint.empty())
        return settings.endpoint;
    return settings.provider == ModelProvider::Anthropic ? "https://api.anthropic.com"
                                                         : "https://api.openai.com/v1";
}

Result<std::unique_ptr<BudgetedModel>> makeLanguageModel(const ModelSettings& settings,
                                                         const EditorModelSource& editor) {
    if (!settings.isEnabled)
        return refused(ErrorKind::Missing, "language models are turned off",
                       "kernelskill.model.enabled", "not needed; turn it on to ask one");
    if (settings.budget.cost && settings.prices.input <= 0 && settings.prices.output <= 0)
        return refused(ErrorKind::InvalidInput, "a limit on cost needs prices",
                       "kernelskill.model.maxCost",
                       "set kernelskill.model.inputPrice and kernelskill.model.outputPrice");
    auto model = makeBareModel(settings, editor);
    if (!model)
        return std::unexpected(model.error());
    return std::make_unique<BudgetedModel>(std::move(*model), settings.budget, settings.prices);
}

Result<std::string> probeLanguageModel(const ModelSettings& settings,
                                       std::chrono::milliseconds time, std::stop_token stop) {
    const auto model = makeLanguageModel(settings);
    if (!model)
        return std::unexpected(model.error());
    const std::string endpoint = endpointOf(settings);
    if (const auto reached = reach(endpoint, time, std::move(stop)); !reached) {
        Error error = reached.error().error;
        error.what = fmt::format("{} cannot be reached: {}", endpoint, error.what);
        error.where = "kernelskill.model.endpoint";
        error.remedy = "check the endpoint and the network";
        return std::unexpected(std::move(error));
    }
    return fmt::format("{} at {} can be reached", (*model)->name(), endpoint);
}

} // namespace kernelskill::engine
