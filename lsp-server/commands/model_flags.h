/// The language model of a command line.
#pragma once

#include "engine/model/model_budget.h"
#include "lsp-server/commands/cli_command.h"
#include "lsp-server/configuration/options.h"

#include <memory>

namespace kernelskill::lsp {

/// --model, which turns one on, and where, how often and at what price it is asked. `options`
/// outlives the parsing.
void addModelFlags(CliCommand& command, Options& options);

/// The model that the options name, for whoever calls the command line trusts the file; null when
/// they name none.
[[nodiscard]] Result<std::unique_ptr<engine::BudgetedModel>> chosenModel(const Options& options);

} // namespace kernelskill::lsp
