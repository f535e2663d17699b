/// Lets the lanes of a warp walk the rows of all of them, one row after the other.
#pragma once

#include "skills/rows-in-turn/turn_loops.h"
#include "skills/schedule/draft.h"

namespace kernelskill::skills {

/// Adds the changes of all loops to the draft, without the headers that they need.
void writeTurns(Draft& draft, const SkillContext& context, const TurnLoops& turns);

} // namespace kernelskill::skills
