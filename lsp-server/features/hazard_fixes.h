/// The fixes of hazards that the engine has found for a place in a document.
#pragma once

#include "lsp-server/documents/snapshot.h"

#include <string>
#include <vector>

namespace kernelskill::lsp {

/// One fix, with every hazard on the lines at hand that it is offered for.
struct HazardFixAt {
    const analysis::KernelModel* kernel = nullptr; ///< One of the snapshot's.
    engine::HazardFix fix;
    std::vector<engine::Hazard> hazards;

    /// "Fix race: insert '__syncthreads();' before line 16"
    [[nodiscard]] std::string title() const;
    [[nodiscard]] analysis::EditSet edits(const Snapshot& snapshot) const;
};

/// The known fixes of hazards whose line, or whose other side's line, `range` touches. Cheap.
[[nodiscard]] std::vector<HazardFixAt> hazardFixesAt(const Snapshot& snapshot,
                                                     analysis::Span range);
/// A kernel's fix by the title under which it was offered; nullopt when there is none (any more).
[[nodiscard]] std::optional<HazardFixAt>
findHazardFix(const Snapshot& snapshot, const std::string& kernel, const std::string& title);

/// Kernels with a hazard in `range` whose fixes have not been looked for yet.
[[nodiscard]] std::vector<const analysis::KernelModel*>
kernelsWithoutHazardFixes(const Snapshot& snapshot, analysis::Span range);

} // namespace kernelskill::lsp
