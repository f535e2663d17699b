/// The capabilities that this server announces.
#pragma once

#include "lsp-server/protocol/client_capabilities.h"

#include <nlohmann/json_fwd.hpp>

namespace kernelskill::lsp {

[[nodiscard]] nlohmann::json serverCapabilities(const ClientCapabilities& client);

} // namespace kernelskill::lsp
