/// The text of kernels that march: the loop along an axis, and queues in it.
#pragma once

#include "skills/stencil-tiling/marched_work.h"
#include "skills/stencil-tiling/queue.h"

#include <vector>

namespace kernelskill::skills {

/// A loop of the kernel whose rounds can hand values on.
struct QueuedLoop {
    analysis::StmtId loop = analysis::noId;
    analysis::VariableId iterator = analysis::noId;
    std::int64_t step = 1;
    std::vector<analysis::StmtId> statements; ///< Those of a round, neighbours in a block.
};

/// Returns the edits of a kernel whose threads take `points` of the axis each. The caller edits its
/// launches.
[[nodiscard]] std::vector<analysis::TextEdit>
marchEdits(const SkillContext& context, const MarchedWork& work, const Queues& queues, int points);

/// Returns the edits that give the loop its queues.
[[nodiscard]] std::vector<analysis::TextEdit>
queueEdits(const SkillContext& context, const QueuedLoop& loop, const Queues& queues);

} // namespace kernelskill::skills
