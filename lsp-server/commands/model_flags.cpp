#include "lsp-server/commands/model_flags.h"

#include "lsp-server/configuration/model_options.h"

#include <CLI/CLI.hpp>

namespace kernelskill::lsp {

void addModelFlags(CLI::App& command, Options& options) {
    command
        .add_option_function<std::string>(
            "--model",
            [&options](const std::string& name) {
                options.modelEnabled = true;
                options.modelName = name;
            },
            "Let this language model propose kernels too; the source is sent to it")
        ->type_name("NAME");
    command
        .add_option("--model-provider", options.modelProvider,
                    "Who offers it: anthropic, or openai and what speaks like it (anthropic)")
        ->check(CLI::IsMember({"anthropic", "openai"}))
        ->type_name("NAME");
    command
        .add_option("--model-endpoint", options.modelEndpoint,
                    "Where it is asked; the provider's own by default")
        ->type_name("URL");
    command
        .add_option("--model-key-variable", options.modelKeyVariable,
                    "The environment variable that holds the key ($ANTHROPIC_API_KEY, "
                    "$OPENAI_API_KEY; none at another endpoint)")
        ->type_name("VARIABLE");
    command.add_option("--model-calls", options.modelMaxCalls, "At most so many calls (20)")
        ->check(CLI::NonNegativeNumber)
        ->type_name("N");
    command
        .add_option("--model-cost", options.modelMaxCost,
                    "At most so much money; needs --model-prices")
        ->check(CLI::NonNegativeNumber)
        ->type_name("COST");
    command
        .add_option_function<std::vector<double>>(
            "--model-prices",
            [&options](const std::vector<double>& prices) {
                options.modelInputPrice = prices[0];
                options.modelOutputPrice = prices[1];
            },
            "Of a million tokens in and a million out")
        ->expected(2)
        ->type_name("IN OUT");
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
