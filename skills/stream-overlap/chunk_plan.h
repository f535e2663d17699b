/// A loop over parts of some data whose rounds could run side by side, in streams by turns.
#pragma once

#include "skills/base/skill.h"
#include "skills/stream-overlap/chunk_loop.h"
#include "skills/stream-overlap/stream_place.h"

#include <cstddef>
#include <expected>

namespace kernelskill::skills {

/// No byte that one round writes is touched by another one.
struct ChunkPlan {
    StreamPlace place; ///< The place of the loop.
    ChunkLoop loop;
    std::size_t streams = 0;
    double gain = 1; ///< Times faster at most.
};

/// Refuses with the first gate that does not hold, see SKILL.md; with `no-chunk-loop` where the
/// kernel is not launched in such a loop at all.
[[nodiscard]] Gated<ChunkPlan> planChunks(const SkillContext& context);

} // namespace kernelskill::skills
