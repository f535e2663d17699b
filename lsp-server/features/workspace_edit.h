/// Edits as the client applies them.
#pragma once

#include "lsp-server/documents/snapshot.h"
#include "lsp-server/protocol/client_capabilities.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::lsp {

/// The words that go with an edit: shown with it, before it is applied, and after.
struct EditAnnotation {
    std::string label;       ///< "Apply skill: Unroll the loop by 4"
    std::string description; ///< The verdict, in a sentence; empty: there is nothing to tell.
    bool needsConfirmation = false;
    std::string notice; ///< Shown once it is applied; empty: nothing is.
};

/// The edits of one file.
struct FileEdit {
    std::string uri;
    std::optional<int> version; ///< Of the open document; none: the edits are of the disk's text.
    const analysis::SourceText* text = nullptr; ///< Not null; the text that the edits are of.
    std::vector<analysis::TextEdit> edits;
};

/// Versioned documentChanges where the client knows them, else changes. An annotation with a
/// description goes with each edit where the client knows changeAnnotations; elsewhere the user is
/// not asked.
[[nodiscard]] nlohmann::json workspaceEdit(const std::vector<FileEdit>& files,
                                           const ClientCapabilities& capabilities,
                                           const EditAnnotation& annotation = {});

/// As above, for edits that refer to the snapshot's texts. A file other than the snapshot's own has
/// no version.
[[nodiscard]] nlohmann::json workspaceEdit(const analysis::EditSet& edits, const Snapshot& snapshot,
                                           const ClientCapabilities& capabilities,
                                           const EditAnnotation& annotation = {});

} // namespace kernelskill::lsp
