/// The command `kernelskill.optimize`.
#pragma once

#include "lsp-server/server/server_context.h"

namespace kernelskill::lsp {

/// {uri, kernel|line|position, version?, rounds?, seconds?}. Shows each round's plans as progress
/// and ends in one workspace/applyEdit if something is better. Answers what `optimize --json`
/// prints, with `applied`. Cancelled, it applies nothing; the next time it goes on where it was.
void optimizeCommand(const ServerContext& context, const nlohmann::json& argument,
                     const nlohmann::json& params, Reply& reply, const std::stop_source& stop);

} // namespace kernelskill::lsp
