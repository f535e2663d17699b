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

/// The loops along the rows of a kernel's threads, and who is to share a row.
struct LaneRows {
    /// The part of the kernel that one thread runs, if the loops are in one; `position` and `rows`
    /// say nothing then.
    std::optional<ThreadGuard> guard;
    RowPosition position;
    RowSharers sharers = RowSharers::Warp;
    /// How many lanes of a warp share a row: a power of two, and no more than a loop with a known
    /// number of rounds has work for.
    int lanes = analysis::warpLanes;
    SharedLoops shared;
    std::optional<std::int64_t> rows; ///< The rows of the smallest launch, if known.
    /// The 32-byte sectors that a warp touches in a round of each of the loops.
    double sectorsBefore = 0;
    double sectorsAfter = 0;
};

/// Reads the rows that `sharers` can share; of loops with a known number of rounds, those with at
/// least `minRounds`. Refuses with `coalesced`, `partial-warps`, or what
/// rowPosition(), requireThreadsApart(), sharedLoops() and requireCountableGrids() refuse with. For
/// blocks also refuses with `no-row-index` where the position is not a sum of the text, and where
/// blocks have a further axis.
[[nodiscard]] Gated<LaneRows> laneRows(const SkillContext& context, RowSharers sharers,
                                       int minRounds = analysis::warpLanes);

/// Reads the rows that warps can share where a loop has a running value; also the one row of a
/// kernel that runs as a single thread. Refuses as laneRows() does, and with `no-scan` where no
/// loop has a running value.
[[nodiscard]] Gated<LaneRows> scannedRows(const SkillContext& context);

/// Returns the gain of fewer sectors.
[[nodiscard]] ExpectedGain sectorGain(const LaneRows& rows);

} // namespace kernelskill::skills
