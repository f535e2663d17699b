/// textDocument/codeAction: skills that fit at the cursor, fixes for compile errors and for
/// hazards, and the search for what makes a kernel faster.
#pragma once

#include "lsp-server/documents/document_worker.h"
#include "lsp-server/documents/snapshot.h"
#include "lsp-server/protocol/client_capabilities.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::lsp {

struct CodeActionRequest {
    analysis::Span range;
    std::vector<std::string> only;            ///< Empty: every kind.
    const nlohmann::json& contextDiagnostics; ///< As the client sent them back.
    bool offerSkills = true;                  ///< False where kernels may not be run.
};

/// (CodeAction | Command)[]. Edits come by resolve; where the client cannot, a fix carries its edit
/// and a skill is a command that ends in workspace/applyEdit. `fixes` may be null. Cheap: reads
/// what is cached.
[[nodiscard]] nlohmann::json codeActions(const Snapshot& snapshot, const CodeActionRequest& request,
                                         const Fixes& fixes,
                                         const ClientCapabilities& capabilities);

/// Whether an action of `kind` is asked for: `only` holds it or one of its parents.
[[nodiscard]] bool isWanted(const std::vector<std::string>& only, std::string_view kind);

/// Whether an error of the snapshot touches `range`.
[[nodiscard]] bool hasErrorAt(const Snapshot& snapshot, analysis::Span range);
/// Whether `range` touches an error that a compile fix may be for, one that shows only at a launch
/// among them.
[[nodiscard]] bool mayHaveFixAt(const Snapshot& snapshot, analysis::Span range);

/// An offer that has been to the client and back.
[[nodiscard]] nlohmann::json offerToJson(const skills::Offer& offer);
[[nodiscard]] skills::Offer offerFromJson(const nlohmann::json& json);

} // namespace kernelskill::lsp
