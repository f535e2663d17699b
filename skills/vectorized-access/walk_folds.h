/// Values into which the rounds of a walk fold, where vectors give each thread other elements.
#pragma once

#include "skills/schedule/lane_loop.h"
#include "skills/vectorized-access/shared_walk.h"

namespace kernelskill::skills {

/// Whether rounds of the walk change the local variable, which is declared around the loop.
[[nodiscard]] bool isFolded(const SkillContext& context, const SharedWalk& walk,
                            analysis::VariableId variable);

/// Requires that a thread can fold its elements group by group. `reader` has read the loop. Refuses
/// with `carries-over` or `order-of-equals`.
[[nodiscard]] Gated<void> requireFoldsByGroups(const SkillContext& context, const SharedWalk& walk,
                                               const LaneLoopReader& reader);

/// Requires that it does not matter which elements a thread folds: what threads have is combined
/// further. Refuses with `kept-by-thread`, `kept-by-block` or `order-of-equals`.
[[nodiscard]] Gated<void> requireFoldsOfAll(const SkillContext& context, const SharedWalk& walk,
                                            const ThreadValues& values);

} // namespace kernelskill::skills
