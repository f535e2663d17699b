/// Whether a block reduction may be rewritten with warp shuffles.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/gates/tree_reduction.h"

namespace kernelskill::skills {

/// The tree at the cursor, else the first that fits. Where none does, the refusal of the loop that
/// comes closest to one. Gates of its own: `no-shuffle`, `array-read-after`, `array-escapes`,
/// `divergent-branch`, `early-return`, `stride-used-after`, `two-dimensional`, `partial-warps`,
/// `unknown-extent`, `extent-not-block`, `no-loop`.
[[nodiscard]] Gated<TreeReduction> findTree(const SkillContext& context,
                                            const analysis::CodeMap& code);

} // namespace kernelskill::skills
