#include "lsp-server/configuration/model_options.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

namespace kernelskill::lsp {
namespace {

std::string defaultKeyVariable(engine::ModelProvider provider) {
    switch (provider) {
    case engine::ModelProvider::Anthropic:
        return "ANTHROPIC_API_KEY";
    case engine::ModelProvider::OpenAi:
        return "OPENAI_API_KEY";
    case engine::ModelProvider::Editor:
        break;
    }
    return {};
}

/// 0 stands for no limit.
std::optional<std::uint64_t> limitOf(double count) {
    constexpr double most = 1e18;
    return count > 0 ? std::optional(static_cast<std::uint64_t>(std::min(std::ceil(count), most)))
                     : std::nullopt;
}

} // namespace

Result<engine::ModelSettings> modelSettings(const Options& options, bool isTrusted) {
    const auto provider = engine::modelProviderNamed(options.modelProvider);
    if (!provider)
        return std::unexpected(Error{
            ErrorKind::InvalidInput,
            fmt::format("there is no provider '{}' of language models", options.modelProvider),
            "kernelskill.model.provider", "use anthropic, openai or editor"});
    for (const double number : {options.modelMaxCalls, options.modelMaxTokens, options.modelMaxCost,
                                options.modelInputPrice, options.modelOutputPrice})
        if (!(number >= 0))
            return std::unexpected(Error{ErrorKind::InvalidInput,
                                         "limits and prices of a language model are at least 0",
                                         "kernelskill.model", "correct the setting"});
    engine::ModelSettings settings;
    settings.isEnabled = options.modelEnabled && options.executionEnabled && isTrusted;
    settings.provider = *provider;
    settings.endpoint = options.modelEndpoint;
    settings.name = options.modelName;
    settings.apiKeyVariable = options.modelKeyVariable;
    if (settings.apiKeyVariable.empty() && settings.endpoint.empty())
        settings.apiKeyVariable = defaultKeyVariable(*provider);
    settings.prices = {options.modelInputPrice, options.modelOutputPrice};
    settings.budget.calls = limitOf(options.modelMaxCalls);
    settings.budget.tokens = limitOf(options.modelMaxTokens);
    if (options.modelMaxCost > 0)
        settings.budget.cost = options.modelMaxCost;
    return settings;
}

} // namespace kernelskill::lsp
