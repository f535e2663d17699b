/// Where records are staged, and that this is legal.
#pragma once

#include "analysis/queries/launch_extents.h"
#include "skills/aos-staging/record_arrays.h"

namespace kernelskill::skills {

struct Staging {
    RecordArrays records;
    /// The block of every launch; zeros: launches state the shared memory.
    analysis::Extents block{};
    analysis::StmtId begin = analysis::noId; ///< Records are loaded in front of it.
    /// Records are stored behind it; noId: no array is written.
    analysis::StmtId end = analysis::noId;
};

/// Refuses with `unknown-effects`, `several-blocks`, `unknown-block`, `three-dimensional`,
/// `too-much-shared-memory`, `line`, `record-number`, `early-return`, `may-alias`, and what the
/// gates of launches refuse with.
[[nodiscard]] Gated<Staging> planStaging(const SkillContext& context, RecordArrays records);

/// Refuses with `too-much-shared-memory` where a block's bytes are more than a launch may have
/// without asking.
[[nodiscard]] Gated<void> requireSharedMemory(const SkillContext& context, std::int64_t bytes);

} // namespace kernelskill::skills
