/// The notice after an edit was applied, and the way back that it offers.
#pragma once

#include "lsp-server/features/workspace_edit.h"
#include "lsp-server/server/server_context.h"

#include <string>

namespace kernelskill::lsp {

/// An edit of one document that can be taken back as long as nothing else has changed.
struct AppliedEdit {
    std::string uri;
    std::string label;          ///< Of the edit.
    std::string after;          ///< The document's text with the edit.
    analysis::EditSet backward; ///< Restores the text before the edit from `after`.
};

/// Describes the edits that the client has applied to the snapshot's text. nullopt if they change
/// other files, whose new text the server does not see.
[[nodiscard]] std::optional<AppliedEdit>
appliedTo(const Snapshot& snapshot, const analysis::EditSet& edits, const std::string& label);

/// Shows the notice. If the client draws buttons and `edit` is given, the button Undo takes the
/// edit back; otherwise the notice says that the editor's undo does. Runs on the loop's thread.
void tellApplied(const ServerContext& context, const std::string& notice,
                 std::optional<AppliedEdit> edit);

} // namespace kernelskill::lsp
