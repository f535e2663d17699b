/// Writes loops that load for several rounds at once.
#pragma once

#include "skills/base/skill.h"
#include "skills/memory-level-parallelism/batched_loads.h"

#include <vector>

namespace kernelskill::skills {

/// The edits of the function that has the loop.
[[nodiscard]] std::vector<analysis::TextEdit> batchedEdits(const SkillContext& function,
                                                           const BatchedLoop& batched);

} // namespace kernelskill::skills
