/// Along which axes the block of a kernel may have another extent.
#pragma once

#include "analysis/model/index_expression.h"
#include "skills/base/skill.h"

#include <array>
#include <vector>

namespace kernelskill::skills {

struct GridAxis {
    /// The kernel asks for its threads along the axis, and for nothing but their numbers in the
    /// grid.
    bool isFree = false;
    /// Where each access to memory is limited to numbers below something that is the same for all
    /// threads: what these are; a thread beyond all of them does nothing. Else empty.
    std::vector<analysis::IndexExpression> limits;
};

using GridAxes = std::array<GridAxis, 3>; ///< x, y, z

/// Refuses what editablePositions() and requireThreadsApart() refuse, and `uses-thread-position`
/// where no axis is free.
[[nodiscard]] Gated<GridAxes> gridAxes(const SkillContext& context);

} // namespace kernelskill::skills
