/// The command `kernelskill.optimizeProgram`.
#pragma once

#include "lsp-server/server/server_context.h"

namespace kernelskill::lsp {

/// {uri?, name?, kernel?, kernels?, rounds?, seconds?}. Optimises a program of the workspace in
/// copies of it, as `optimize -- PROGRAM` does, and ends in one workspace/applyEdit over all files
/// if something is better. Answers what `optimize --json` prints for a program, with `applied`; a
/// document that has changed meanwhile keeps its text, and `applied` is false. Refuses while open
/// documents differ from the disk, since the disk's files are built. Cancelled, it applies nothing.
void optimizeProgramCommand(const ServerContext& context, const nlohmann::json& argument,
                            const nlohmann::json& params, Reply& reply,
                            const std::stop_source& stop);

} // namespace kernelskill::lsp
