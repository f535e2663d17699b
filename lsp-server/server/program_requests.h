/// Commands for the user's own programs.
#pragma once

#include "lsp-server/server/server_context.h"

namespace kernelskill::lsp {

/// `kernelskill.pickProgram`: {uri?, name?}. Remembers the program for the workspace of `uri`, by
/// default its first folder. Without a name the user is asked. Answers with the program, or null if
/// the user picked none.
void pickProgramCommand(const ServerContext& context, const nlohmann::json& argument, Reply& reply);

/// `kernelskill.runProgram`: {uri?, name?, build?}. Builds, runs and checks the picked program, or
/// the one that is named, in a workspace that the user trusts. `build`: false runs what is built.
/// Answers as `kernelskill program run --json`, with the end of the program's `output`.
void runProgramCommand(const ServerContext& context, const nlohmann::json& argument,
                       const nlohmann::json& params, Reply& reply, const std::stop_source& stop);

} // namespace kernelskill::lsp
