/// textDocument/publishDiagnostics: compile errors, hazards that a profile saw, launches that
/// fail, provable waste.
#pragma once

#include "lsp-server/documents/snapshot.h"
#include "lsp-server/documents/text_lookup.h"
#include "lsp-server/protocol/client_capabilities.h"
#include "lsp-server/protocol/language_features.h"

#include <vector>

namespace kernelskill::lsp {

/// Diagnostics in the protocol's terms. One in another file is put on the line that includes it.
[[nodiscard]] std::vector<Diagnostic>
toProtocol(const std::vector<analysis::Diagnostic>& diagnostics, const std::string& file,
           const analysis::SourceText& source, TextLookup& texts,
           const ClientCapabilities& capabilities);

/// The diagnostic of a kernel's hazard. Related: the other side of a race or of a barrier, else
/// where the array is declared.
[[nodiscard]] analysis::Diagnostic hazardDiagnostic(const Snapshot& snapshot,
                                                    const analysis::KernelModel& kernel,
                                                    const engine::Hazard& hazard,
                                                    TextLookup& texts);

/// The hazards that the cached profiles of the snapshot's kernels hold.
[[nodiscard]] std::vector<analysis::Diagnostic> hazardDiagnostics(const Snapshot& snapshot);

/// Launches that fail with the registers that the GPU's compiler gave the kernel, where the cached
/// profiles know them.
[[nodiscard]] std::vector<analysis::Diagnostic> launchDiagnostics(const Snapshot& snapshot);

/// Launch pins (`// kernelskill: launch ...`) that cannot be read or name no kernel.
[[nodiscard]] std::vector<analysis::Diagnostic> pinDiagnostics(const Snapshot& snapshot);

/// An access that provably takes at least twice the sectors or wavefronts it needs.
struct Waste {
    const analysis::MemoryAccess* access; ///< One of the kernel's.
    analysis::Diagnostic diagnostic;
};

/// The wasteful accesses of a kernel of the snapshot's main file; empty for one that a macro made,
/// whose accesses have no place of their own.
[[nodiscard]] std::vector<Waste> wasteOf(const Snapshot& snapshot,
                                         const analysis::KernelModel& kernel);

/// The waste of all kernels of the main file.
[[nodiscard]] std::vector<analysis::Diagnostic> wasteDiagnostics(const Snapshot& snapshot);

} // namespace kernelskill::lsp
