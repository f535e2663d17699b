/// textDocument/codeLens: over each kernel what holds it back, and what can be done about it.
#pragma once

#include "lsp-server/documents/snapshot.h"
#include "lsp-server/program/kernel_shares.h"
#include "lsp-server/protocol/position.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace kernelskill::lsp {

/// All that lenses depend on beside the snapshot.
struct LensContext {
    bool mayRun = false; ///< Without it, lenses for what has to run kernels are left out.
    /// The document's text in git's HEAD as analysis::tokenText() has it, or null: a kernel that it
    /// does not hold can be verified against it.
    const std::string* head = nullptr;
    /// The last profile of a program that runs the kernels, or null. It holds for kernels that have
    /// not changed since.
    const KernelShares* program = nullptr;
};

/// CodeLens[]. Most have no command: resolveCodeLens() fills it in when a lens comes into view.
[[nodiscard]] nlohmann::json codeLenses(const Snapshot& snapshot, const LensContext& context,
                                        PositionEncoding encoding);

/// The lens with its command, if it has none yet, against the newest snapshot of its document. A
/// kernel that is gone gets an empty title. Reads the file's short-term memory.
[[nodiscard]] nlohmann::json resolveCodeLens(const Snapshot& snapshot, nlohmann::json lens);

} // namespace kernelskill::lsp
