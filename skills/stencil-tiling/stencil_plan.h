/// Where the points of a stencil can be kept from one round to the next.
#pragma once

#include "skills/stencil-tiling/march_text.h"
#include "skills/stencil-tiling/marched_work.h"
#include "skills/stencil-tiling/queue.h"

#include <optional>
#include <vector>

namespace kernelskill::skills {

struct StencilPlan {
    /// The launch's axis becomes a loop; nullopt: the kernel has the loop.
    std::optional<MarchedWork> march;
    QueuedLoop loop;
    Queues queues;
    std::vector<int> points; ///< How many a thread may take of the axis, the one shown first.
};

/// Refuses with the first gate that does not hold, see SKILL.md.
[[nodiscard]] Gated<StencilPlan> planStencil(const SkillContext& context);

} // namespace kernelskill::skills
