/// Kernels whose threads each work on a row, where a group of threads can share one.
#pragma once

#include "analysis/source/gpu_constants.h"
#include "skills/base/skill.h"
#include "skills/schedule/row_position.h"
#include "skills/schedule/shared_loops.h"

#include <cstdint>
#include <optional>

namespace kernelskill::skills {

/// Who shares a row.
enum class RowSharers : std::uint8_t {
    Warp,  ///< The lanes of a warp, or as many neighbours of them as LaneRows::lanes says.
    Block, ///< The threads of a block, along x.
};

/// A part of a kernel that one thread of a block runs, and its warp is to run.
struct ThreadGuard {
    analysis::StmtId statement = analysis::noId; ///< `if (i == 0) { ... }`; noId: a whole function.
    analysis::ExprId comparison = analysis::noId; ///< `i == 0`
    analysis::ExprId position = analysis::noId;   ///< `i`
};

struct LaneRows {
    std::optional<ThreadGuard> guard; ///< Then there is no position, nor are there rows.
    RowPosition position;
    RowSharers sharers = RowSharers::Warp;
    int lanes = analysis::warpLanes; ///< That share a row: a power of two. Of a warp alone.
    SharedLoops shared;
    std::optional<std::int64_t> rows; ///< Of the smallest launch; nullopt: not known.
    double sectorsBefore = 0;         ///< 32-byte sectors of a round of the loops, for a warp.
    double sectorsAfter = 0;
};

/// Refuses with `coalesced`, `partial-warps`, or what rowPosition(), requireThreadsApart(),
/// sharedLoops() and requireResizableGrids() refuse with. A block also refuses with `no-row-index`
/// where the position is not a sum of the text, and where blocks have a further axis.
[[nodiscard]] Gated<LaneRows> laneRows(const SkillContext& context, RowSharers sharers);

/// The rows of a warp each, where loops may have running values; also where a kernel runs as a
/// single thread. Refuses as above, and with `no-scan` where no loop has a running value.
[[nodiscard]] Gated<LaneRows> scannedRows(const SkillContext& context);

} // namespace kernelskill::skills
