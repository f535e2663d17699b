/// Finds locals whose declarations have to move because code that uses them moves out of their
/// block.
#pragma once

#include "skills/base/skill.h"
#include "skills/warp-aggregated-atomics/counter_push.h"

#include <vector>

namespace kernelskill::skills {

/// Finds the locals that `behind` uses and that are declared before it, within `outermost`, a
/// statement of the kernel's outermost block, or after `guard` in that block (noId: no guard).
/// Refuses with `declaration` if a declaration cannot be split from its initial value.
[[nodiscard]] Gated<std::vector<KeptLocal>> keptLocals(const SkillContext& context,
                                                       const std::vector<analysis::StmtId>& behind,
                                                       analysis::StmtId outermost,
                                                       analysis::StmtId guard);

} // namespace kernelskill::skills
