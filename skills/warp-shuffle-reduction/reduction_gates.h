/// Whether a block reduction may be rewritten with warp shuffles.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/gates/tree_reduction.h"

namespace kernelskill::skills {

/// Finds the tree at the cursor, else the first that fits. Refuses with `no-shuffle`,
/// `result-last`, and what chooseTree(), recogniseTree(), requireResultOnly(), requireAllThreads(),
/// requireOwnStride() and requireWholeWarps() refuse.
[[nodiscard]] Gated<TreeReduction> findTree(const SkillContext& context,
                                            const analysis::CodeMap& code);

} // namespace kernelskill::skills
