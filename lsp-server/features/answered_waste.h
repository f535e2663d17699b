/// Which diagnostics of waste a skill is the answer to.
#pragma once

#include "lsp-server/documents/snapshot.h"
#include "skills/base/skill.h"

#include <vector>

namespace kernelskill::lsp {

/// The waste that the offer is about: of a kind that its skill answers, at an access that lies in
/// the offer's loop or kernel or that goes to its array. `kernel` is the offer's, of the snapshot.
[[nodiscard]] std::vector<analysis::Diagnostic> wasteAnsweredBy(const Snapshot& snapshot,
                                                                const analysis::KernelModel& kernel,
                                                                const skills::Offer& offer);

} // namespace kernelskill::lsp
