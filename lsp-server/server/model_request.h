/// The command that generates a PyTorch program's model.
#pragma once

#include "analysis/source/json.h"
#include "lsp-server/server/server_context.h"

namespace kernelskill::lsp {

/// `argument`: {uri of the archive, folder as a URI, precision?, libraries?, tolerance?,
/// channelsLast?, seconds?}. Checks the kernels, writes the folder and answers its manifest with
/// `check`, and the URIs `folder` and `report`.
void generateModelCommand(const ServerContext& context, const nlohmann::json& argument,
                          const nlohmann::json& params, Reply& reply, const std::stop_source& stop);

} // namespace kernelskill::lsp
