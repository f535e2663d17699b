/// A first kernel from a host function: codeAction/resolve and the command for editors without it.
#pragma once

#include "analysis/source/json.h"
#include "lsp-server/server/server_context.h"

namespace kernelskill::lsp {

/// `action` with its edit, once the kernel has been run beside the function.
void resolveGeneration(const ServerContext& context, const nlohmann::json& action, Reply& reply,
                       const std::stop_source& stop);
/// The data of a code action. Answers {function, kernel, edits, verdict, applied}.
void generateCommand(const ServerContext& context, const nlohmann::json& argument,
                     const nlohmann::json& params, Reply& reply, const std::stop_source& stop);

} // namespace kernelskill::lsp
