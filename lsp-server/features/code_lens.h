/// textDocument/codeLens: over each kernel what holds it back, and what can be done about it.
#pragma once

#include "lsp-server/documents/snapshot.h"
#include "lsp-server/protocol/position.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace kernelskill::lsp {

/// CodeLens[] without commands: resolveCodeLens() fills them in when a lens comes into view. Where
/// kernels may not be run (`mayRun`), those that would need it are left out. `head` is the
/// document's text in git's HEAD as analysis::tokenText() has it, or null: a kernel that it does
/// not hold can be verified against it.
[[nodiscard]] nlohmann::json codeLenses(const Snapshot& snapshot, bool mayRun,
                                        const std::string* head, PositionEncoding encoding);

/// The lens with its command, against the newest snapshot of its document. A kernel that is gone
/// gets an empty title. Reads the file's short-term memory.
[[nodiscard]] nlohmann::json resolveCodeLens(const Snapshot& snapshot, nlohmann::json lens);

} // namespace kernelskill::lsp
