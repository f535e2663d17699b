/// Finds tree reductions whose active threads lie ever further apart, and rewrites them for
/// neighbouring threads.
#pragma once

#include "skills/base/skill.h"
#include "skills/gates/tree_reduction.h"

namespace kernelskill::skills {

/// Finds the interleaved tree at the cursor, else the first that fits. Refuses with
/// `sequential-already` and what recogniseTree(), requireResultOnly(), requireOwnStride() and
/// requirePowerOfTwo() refuse.
[[nodiscard]] Gated<TreeReduction> findInterleavedTree(const SkillContext& context);

/// Gives the tree a stride that halves, so that its active threads are neighbours.
[[nodiscard]] std::vector<analysis::TextEdit> sequentialEdits(const SkillContext& context,
                                                              const TreeReduction& tree);

} // namespace kernelskill::skills
