/// Kernels whose threads each work on a row, where the lanes of a warp can share one.
#pragma once

#include "skills/base/skill.h"
#include "skills/schedule/kept_element.h"
#include "skills/schedule/lane_loop.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

/// Everything outside of `loops` is done by all lanes of a warp alike, on the same values.
struct LaneRows {
    analysis::VariableId row = analysis::noId; ///< Holds the thread's index in the grid.
    std::vector<LaneLoop> loops;
    std::vector<analysis::StmtId> stores; ///< Outside of `loops`: for one lane.
    std::vector<KeptElement> kept;        ///< Elements that loops fold into.
    std::vector<std::string> names;       ///< Of their registers.
    double sectorsBefore = 0;             ///< 32-byte sectors of a round of the loops, for a warp.
    double sectorsAfter = 0;
};

/// Refuses with `no-row-index`, `uses-thread-position`, `shares-memory`, `barrier`,
/// `warp-operation`, `no-row-loop`, `short-rows`, `carries-over`, `columns-overlap`, `row-memory`,
/// `coalesced`, `partial-warps`, or what keptElements() and requireResizableGrids() refuse with.
[[nodiscard]] Gated<LaneRows> laneRows(const SkillContext& context);

/// Refuses with `columns-overlap` where the nest's dependences do not show that rounds of the loops
/// are independent, the folds aside. Takes milliseconds.
[[nodiscard]] Gated<void> requireIndependentRounds(const SkillContext& context,
                                                   const LaneRows& rows);

} // namespace kernelskill::skills
