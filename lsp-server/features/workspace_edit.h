/// Edits as the client applies them.
#pragma once

#include "lsp-server/documents/snapshot.h"
#include "lsp-server/protocol/client_capabilities.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace kernelskill::lsp {

/// The words that go with an edit: shown with it, before it is applied, and after.
struct EditAnnotation {
    std::string label;       ///< "Apply skill: Unroll the loop by 4"
    std::string description; ///< The verdict, in a sentence; empty: there is nothing to tell.
    bool needsConfirmation = false;
    std::string notice; ///< Shown once it is applied; empty: nothing is.
};

/// Versioned documentChanges where the client knows them, else changes. Edits refer to the
/// snapshot's texts; a file other than the snapshot's own has no version. An annotation with a
/// description goes with each edit where the client knows changeAnnotations; elsewhere the user is
/// not asked.
[[nodiscard]] nlohmann::json workspaceEdit(const analysis::EditSet& edits, const Snapshot& snapshot,
                                           const ClientCapabilities& capabilities,
                                           const EditAnnotation& annotation = {});

} // namespace kernelskill::lsp
