/// The edits that replace a tree in shared memory by warp shuffles.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/gates/tree_reduction.h"

namespace kernelskill::skills {

/// For a tree that findTree() returned.
[[nodiscard]] std::vector<analysis::TextEdit>
shuffleEdits(const SkillContext& context, const analysis::CodeMap& code, const TreeReduction& tree);

} // namespace kernelskill::skills
