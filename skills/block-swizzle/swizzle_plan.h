/// Which order of blocks lets those in flight share most of what they load.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>
#include <expected>
#include <optional>
#include <vector>

namespace kernelskill::skills {

/// The bytes that a block of a contraction brings in; loops of unknown length count 16 rounds.
struct BlockTraffic {
    double row = 0;    ///< Shared by the blocks of one row of the grid.
    double column = 0; ///< Shared by the blocks of one column.
    double own = 0;    ///< The bytes of this block alone.
    /// The bytes that its warps pass through shared memory and the first-level cache, 128 bytes an
    /// access.
    double onChip = 0;
};

/// A launch as far as it is known.
struct Wave {
    std::int64_t blocks = 0;             ///< Resident at once on a large GPU.
    std::optional<std::int64_t> columns; ///< The columns of the grid.
    std::optional<std::int64_t> rows;
};

/// Bytes that a wave of blocks brings in, taken row by row of the grid.
[[nodiscard]] double bytesRowByRow(const BlockTraffic& traffic, const Wave& wave);
/// The same, taken column by column in groups of so many rows.
[[nodiscard]] double bytesInGroups(const BlockTraffic& traffic, const Wave& wave,
                                   std::int64_t groupRows);

/// Seconds at least for a wave of blocks that brings in so many bytes, on a large GPU: for device
/// memory, or for what passes on the chip if that takes longer.
[[nodiscard]] double minSeconds(const BlockTraffic& traffic, const Wave& wave, double bytes);

struct Swizzle {
    std::int64_t groupRows = 0;
    double bytes = 1;  ///< Brought in before, over after.
    double factor = 1; ///< Times faster at most: minSeconds() before, over after.
};

struct SwizzlePlan {
    std::vector<analysis::ExprId> positions; ///< blockIdx.x and .y, to be replaced.
    Wave wave;                               ///< The wave of the launch that gains most.
    std::vector<Swizzle> choices;            ///< Worth it, the best first; not empty.
};

/// Refuses with the first gate that does not hold, see SKILL.md.
[[nodiscard]] Gated<SwizzlePlan> planSwizzle(const SkillContext& context);

} // namespace kernelskill::skills
