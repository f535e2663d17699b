/// Reads one round of a scan by doubling steps: how it changes a thread's own element.
#pragma once

#include "analysis/queries/code_map.h"

#include <vector>

namespace kernelskill::skills {

/// The names in a round: `value` holds what a thread reads between the barriers, `array` is
/// scanned.
struct ScanNames {
    analysis::VariableId stride = analysis::noId;
    analysis::VariableId value = analysis::noId;
    analysis::VariableId array = analysis::noId;
    analysis::ExprId thread = analysis::noId; ///< An expression that is threadIdx.x.
};

/// The names, if the statements `reads` before the barrier and `writes` behind it add the element
/// `stride` before a thread's own to its own in threads from `stride` on, and change nothing in the
/// other threads; in any of the ways to write that. nullopt otherwise.
[[nodiscard]] std::optional<ScanNames> scanRound(const analysis::CodeMap& code,
                                                 analysis::VariableId stride,
                                                 const std::vector<analysis::StmtId>& reads,
                                                 const std::vector<analysis::StmtId>& writes);

} // namespace kernelskill::skills
