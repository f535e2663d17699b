/// Edits as the client applies them.
#pragma once

#include "lsp-server/documents/snapshot.h"
#include "lsp-server/protocol/client_capabilities.h"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <optional>

namespace kernelskill::lsp {

/// Versioned documentChanges where the client knows them, else changes. Edits refer to the
/// snapshot's texts; a file other than the snapshot's own has no version.
[[nodiscard]] nlohmann::json workspaceEdit(const analysis::EditSet& edits, const Snapshot& snapshot,
                                           const ClientCapabilities& capabilities);

} // namespace kernelskill::lsp
