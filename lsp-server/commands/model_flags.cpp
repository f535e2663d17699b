#include "lsp-server/commands/model_flags.h"

#include "lsp-server/configuration/model_options.h"

#include <limits>
#include <tuple>

namespace kernelskill::lsp {

void addModelFlags(CliCommand& command, Options& options) {
    command.option(
        &options.modelName,
        {.name = "--model",
         .placeholder = "NAME",
         .help = "Let this language model propose kernels, too; the source is sent to it",
         .whenGiven = [&options] { options.modelEnabled = true; }});
    command.option(&options.modelProvider,
                   {.name = "--model-provider",
                    .placeholder = "NAME",
                    .help = "The model's API: anthropic, or openai and compatible (anthropic)",
                    .choices = {"anthropic", "openai"}});
    command.option(&options.modelEndpoint,
                   {.name = "--model-endpoint",
                    .placeholder = "URL",
                    .help = "URL of the API; the provider's own by default"});
    command.option(&options.modelKeyVariable,
                   {.name = "--model-key-variable",
                    .placeholder = "VARIABLE",
                    .help = "Environment variable that holds the API key ($ANTHROPIC_API_KEY, "
                            "$OPENAI_API_KEY; none for another endpoint)"});
    constexpr auto any = std::numeric_limits<double>::max();
    command.option(&options.modelMaxCalls, {.name = "--model-calls",
                                            .placeholder = "N",
                                            .help = "Max number of calls (20)",
                                            .range = {{0, any}}});
    command.option(&options.modelMaxCost, {.name = "--model-cost",
                                           .placeholder = "COST",
                                           .help = "Max cost; needs --model-prices",
                                           .range = {{0, any}}});
    const auto prices = std::make_shared<std::pair<double, double>>(options.modelInputPrice,
                                                                    options.modelOutputPrice);
    command.option(prices.get(),
                   {.name = "--model-prices",
                    .placeholder = "IN OUT",
                    .help = "Prices of a million input tokens and of a million output tokens"});
    command.whenParsed([&options, prices] {
        std::tie(options.modelInputPrice, options.modelOutputPrice) = *prices;
    });
}

Result<std::unique_ptr<engine::BudgetedModel>> chosenModel(const Options& options) {
    const auto settings = modelSettings(options, true);
    if (!settings)
        return std::unexpected(settings.error());
    if (!settings->isEnabled)
        return nullptr;
    return engine::makeLanguageModel(*settings);
}

} // namespace kernelskill::lsp
