/// Locals that live on where the code that uses them moves out of their block.
#pragma once

#include "skills/base/skill.h"
#include "skills/warp-aggregated-atomics/counter_push.h"

#include <vector>

namespace kernelskill::skills {

/// The locals that `behind` uses and that are declared before it, within `outermost`, a statement
/// of the kernel's own block, or behind `guard` in that block (noId: no guard). Refuses with
/// `declaration` where a declaration cannot be parted from its values.
[[nodiscard]] Gated<std::vector<KeptLocal>> keptLocals(const SkillContext& context,
                                                       const std::vector<analysis::StmtId>& behind,
                                                       analysis::StmtId outermost,
                                                       analysis::StmtId guard);

} // namespace kernelskill::skills
