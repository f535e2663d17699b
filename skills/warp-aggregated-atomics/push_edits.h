/// Writes a push for which a block reserves its threads' places by one atomic.
#pragma once

#include "skills/warp-aggregated-atomics/counter_push.h"

#include <vector>

namespace kernelskill::skills {

[[nodiscard]] std::vector<analysis::TextEdit> pushEdits(const SkillContext& context,
                                                        const CounterPush& push);

} // namespace kernelskill::skills
