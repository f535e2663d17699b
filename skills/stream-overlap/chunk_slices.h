/// Whether the rounds of a loop touch different parts of the memory that they share.
#pragma once

#include "skills/base/skill.h"
#include "skills/stream-overlap/chunk_loop.h"

#include <expected>

namespace kernelskill::skills {

/// The bytes that a round moves, on average.
struct ChunkTraffic {
    double bytesToDevice = 0;
    double bytesToHost = 0;
    double bytesOnDevice = 0; ///< Behind the pointers of the kernels, and of copies there.
};

/// Holds if no byte that one round writes is touched by another one, as far as the text proves it,
/// and if all memory of the host that is copied is pinned by this function. Refuses with
/// `rounds-overlap`, `slice-unknown`, `may-alias`, `unknown-memory`, `copy-direction` or
/// `not-pinned`.
[[nodiscard]] Gated<ChunkTraffic> requireSlices(const SkillContext& context, const ChunkLoop& loop);

} // namespace kernelskill::skills
