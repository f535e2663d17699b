/// Kernels whose threads along x work on neighbouring elements, in a plane or behind any address
/// that goes up with them, each of which may take a group.
#pragma once

#include "skills/base/skill.h"
#include "skills/vectorized-access/element_guard.h"
#include "skills/vectorized-access/neighbour_places.h"

#include <vector>

namespace kernelskill::skills {

struct NeighbourGroups {
    ElementGuard guard;
    /// Numbers of elements in a row that a group must divide to lie in one row.
    std::vector<analysis::ExprId> rowLengths;
    bool areRowsWhole = false; ///< The limit is so many whole rows.
    /// Launches need fewer blocks along x: a block for each few elements. The blocks of a loop over
    /// the grid are fewer only where a launch divides the elements among them.
    bool dividesGrids = false;
    NeighbourPlaces moved;
    /// Declarations of the work that addresses and row lengths are made of, in order.
    std::vector<analysis::StmtId> head;
    /// Declarations before the work whose values follow from the index, and that the work uses.
    std::vector<analysis::StmtId> outer;
};

/// Refuses with the first gate that does not hold: what readElementGuard() and
/// requireIndependentWork() refuse with, `already-vectorized`, `from-macro`, `loop-in-work`,
/// `early-exit`, `work-too-large`, `atomic`, `call-in-work`, `strided-access`,
/// `conditional-store`, `no-unit-stride-access`, `load-after-store`, `short-rows`, and what
/// requireResizableGrids() refuses with.
[[nodiscard]] Gated<NeighbourGroups> neighbourGroups(const SkillContext& context);

} // namespace kernelskill::skills
