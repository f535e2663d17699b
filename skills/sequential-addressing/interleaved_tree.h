/// Finds tree reductions whose active threads lie ever further apart, and turns them round.
#pragma once

#include "skills/base/planned_skill.h"
#include "skills/gates/tree_reduction.h"

namespace kernelskill::skills {

/// The interleaved tree at the cursor, else the first that fits. Refuses what recogniseTree()
/// refuses, `sequential-already`, `array-read-after`, `array-escapes`, `stride-used-after`,
/// `no-power-of-two` and what requirePowerOfTwo() refuses further.
[[nodiscard]] Gated<TreeReduction> findInterleavedTree(const SkillContext& context);

/// The tree with a stride that halves, whose active threads are neighbours.
[[nodiscard]] std::vector<analysis::TextEdit> sequentialEdits(const SkillContext& context,
                                                              const TreeReduction& tree);

} // namespace kernelskill::skills
