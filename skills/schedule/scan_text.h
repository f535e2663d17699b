/// The primitive `scan`: the lanes of a warp take 32 neighbouring rounds of a loop at a time and
/// scan for its running value.
#pragma once

#include "skills/schedule/draft.h"
#include "skills/schedule/lane_loop.h"

#include <string>

namespace kernelskill::skills {

/// Writes the scan of `loop`, which has a running value; `lane` is an expression of the lane's
/// number. All lanes of the warp have to come to the loop, with the same running value.
void scanRounds(Draft& draft, const SkillContext& context, const LaneLoop& loop,
                const std::string& lane);

} // namespace kernelskill::skills
