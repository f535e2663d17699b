/// Along which axes the block of a kernel may have another extent.
#pragma once

#include "analysis/model/index_expression.h"
#include "skills/base/skill.h"

#include <array>
#include <vector>

namespace kernelskill::skills {

struct GridAxis {
    /// The kernel asks for its threads along the axis, and only for their numbers in the grid.
    bool isFree = false;
    /// The bounds that guard accesses to memory, each the same for all threads: a thread whose
    /// number reaches the largest one does nothing. Empty if an access is not guarded.
    std::vector<analysis::IndexExpression> limits;
};

using GridAxes = std::array<GridAxis, 3>; ///< x, y, z

/// Refuses what requireKnownPositions() and requireThreadsApart() refuse, and
/// `uses-thread-position` where no axis is free.
[[nodiscard]] Gated<GridAxes> gridAxes(const SkillContext& context);

} // namespace kernelskill::skills
