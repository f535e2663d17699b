/// textDocument/publishDiagnostics: compile errors, hazards that a profile saw, launches that
/// fail, provable waste.
#pragma once

#include "lsp-server/documents/snapshot.h"
#include "lsp-server/documents/text_lookup.h"
#include "lsp-server/protocol/client_capabilities.h"
#include "lsp-server/protocol/language_features.h"

#include <vector>

namespace kernelskill::lsp {

/// In the protocol's terms. One that lies in another file is put on the line that includes it.
[[nodiscard]] std::vector<Diagnostic>
toProtocol(const std::vector<analysis::Diagnostic>& diagnostics, const std::string& file,
           const analysis::SourceText& source, TextLookup& texts,
           const ClientCapabilities& capabilities);

/// One of a kernel of the snapshot. Related: the other side of a race or of a barrier, else where
/// the array is declared.
[[nodiscard]] analysis::Diagnostic hazardDiagnostic(const Snapshot& snapshot,
                                                    const analysis::KernelModel& kernel,
                                                    const engine::Hazard& hazard,
                                                    TextLookup& texts);

/// What the cached profiles of the snapshot's kernels found.
[[nodiscard]] std::vector<analysis::Diagnostic> hazardDiagnostics(const Snapshot& snapshot);

/// Launches that fail with the registers that the GPU's compiler gave the kernel, where the cached
/// profiles know them.
[[nodiscard]] std::vector<analysis::Diagnostic> launchDiagnostics(const Snapshot& snapshot);

/// Launch pins (`// kernelskill: launch ...`) that cannot be read or name no kernel.
[[nodiscard]] std::vector<analysis::Diagnostic> pinDiagnostics(const Snapshot& snapshot);

/// An access that provably takes at least twice the sectors or wavefronts it needs.
struct Waste {
    const analysis::MemoryAccess* access; ///< Of the kernel.
    analysis::Diagnostic diagnostic;
};

/// Of a kernel of the snapshot's main file; empty for one that a macro made, whose accesses have no
/// place of their own.
[[nodiscard]] std::vector<Waste> wasteOf(const Snapshot& snapshot,
                                         const analysis::KernelModel& kernel);

/// That of all kernels of the main file.
[[nodiscard]] std::vector<analysis::Diagnostic> wasteDiagnostics(const Snapshot& snapshot);

} // namespace kernelskill::lsp
