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
    analysis::EditSet backward; ///< Makes of `after` what was there before.
};

/// The edits as the client has applied them to the snapshot's text; nullopt if they reach other
/// files, whose texts of afterwards the server does not see.
[[nodiscard]] std::optional<AppliedEdit>
appliedTo(const Snapshot& snapshot, const analysis::EditSet& edits, const std::string& label);

/// Shows the notice. Where the client draws buttons in notices and `edit` is given, it has one that
/// takes the edit back; else the notice says that one undo of the editor does. On the loop's
/// thread.
void tellApplied(const ServerContext& context, const std::string& notice,
                 std::optional<AppliedEdit> edit);

} // namespace kernelskill::lsp
