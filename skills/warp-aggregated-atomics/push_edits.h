/// Writes a push whose places a block takes by one atomic.
#pragma once

#include "skills/warp-aggregated-atomics/counter_push.h"

#include <vector>

namespace kernelskill::skills {

[[nodiscard]] std::vector<analysis::TextEdit> pushEdits(const SkillContext& context,
                                                        const CounterPush& push);

} // namespace kernelskill::skills
