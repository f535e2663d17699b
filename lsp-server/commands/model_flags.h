/// The language model of a command line.
#pragma once

#include "engine/model/model_budget.h"
#include "lsp-server/commands/cli_command.h"
#include "lsp-server/configuration/options.h"

#include <memory>

namespace kernelskill::lsp {

/// Adds --model, which turns a model on, and the options for its address, its budget and its price.
/// `options` outlives the parsing.
void addModelFlags(CliCommand& command, Options& options);

/// The model that the options name; null when they name none. A user who calls the command line
/// trusts the file.
[[nodiscard]] Result<std::unique_ptr<engine::BudgetedModel>> chosenModel(const Options& options);

} // namespace kernelskill::lsp
