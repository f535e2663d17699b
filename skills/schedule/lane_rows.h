/// Kernels whose threads each work on a row, where a group of threads can share one.
#pragma once

#include "skills/base/skill.h"
#include "skills/schedule/row_position.h"
#include "skills/schedule/shared_loops.h"

#include <cstdint>
#include <optional>

namespace kernelskill::skills {

/// Who shares a row.
enum class RowSharers : std::uint8_t {
    Warp,  ///< The lanes of a warp.
    Block, ///< The threads of a block, along x.
};

struct LaneRows {
    RowPosition position;
    RowSharers sharers = RowSharers::Warp;
    SharedLoops shared;
    std::optional<std::int64_t> rows; ///< Of the smallest launch; nullopt: not known.
    double sectorsBefore = 0;         ///< 32-byte sectors of a round of the loops, for a warp.
    double sectorsAfter = 0;
};

/// Refuses with `coalesced`, `partial-warps`, or what rowPosition(), requireThreadsApart(),
/// sharedLoops() and requireResizableGrids() refuse with. A block also refuses with `no-row-index`
/// where the position is not a sum of the text, and where blocks have a further axis.
[[nodiscard]] Gated<LaneRows> laneRows(const SkillContext& context, RowSharers sharers);

} // namespace kernelskill::skills
