/// The edits that replace a tree in shared memory by warp shuffles.
#pragma once

#include "skills/warp-shuffle-reduction/tree_reduction.h"

namespace kernelskill::skills {

/// For a tree that findTree() returned.
[[nodiscard]] analysis::EditSet shuffleEdits(const SkillContext& context, const CodeMap& code,
                                             const TreeReduction& tree);

} // namespace kernelskill::skills
