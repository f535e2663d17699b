/// Loops that copy a part of some data to the GPU, work on it there, and copy it back.
#pragma once

#include "skills/base/skill.h"
#include "skills/stream-overlap/host_copies.h"

#include <cstdint>
#include <expected>
#include <vector>

namespace kernelskill::skills {

/// `for (int c = first; c < limit; c += step) { copies; launches; copies }`, all in one stream,
/// with checks for errors and locals that never change beside them.
struct ChunkLoop {
    std::uint32_t host = analysis::noId; ///< Index into FileModel::hostFunctions.
    analysis::StmtId loop = analysis::noId;
    analysis::VariableId counter = analysis::noId;
    std::int64_t first = 0;                            ///< At least 0.
    std::int64_t step = 1;                             ///< Above 0.
    analysis::ExprId stepText = analysis::noId;        ///< noId: `++c`.
    std::int64_t rounds = 0;                           ///< Two or more.
    std::vector<const analysis::LaunchSite*> launches; ///< One or more; they live in the file.
    std::vector<AsyncCopy> copies;                     ///< One or more.
    analysis::ExprId stream = analysis::noId;          ///< noId: the default one.

    /// The value of the counter in that round, from 0 on.
    [[nodiscard]] std::int64_t valueIn(std::int64_t round) const { return first + round * step; }
};

/// The loop around a launch. Refuses with `no-chunk-loop` where none around it holds copies that
/// are not waited for, else with `rounds-unknown`, `host-work-in-loop`, `several-streams`,
/// `stream-not-plain` or `argument-acts`.
[[nodiscard]] Gated<ChunkLoop> readChunkLoop(const SkillContext& context,
                                             const analysis::LaunchSite& launch);

} // namespace kernelskill::skills
