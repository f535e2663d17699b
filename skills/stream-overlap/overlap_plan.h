/// Launches that follow each other in one stream and could run side by side.
#pragma once

#include "skills/base/skill.h"
#include "skills/stream-overlap/stream_place.h"

#include <expected>
#include <vector>

namespace kernelskill::skills {

inline constexpr std::size_t maxStreams = 4;
inline constexpr double minGain = 1.2; ///< Less is not worth the streams.

struct OverlapPlan {
    StreamPlace place; ///< The place of all launches.
    /// Two or more, in their order; they live in the file. No two touch the same memory, unless
    /// both only read it.
    std::vector<const analysis::LaunchSite*> launches;
    double gain = 1;  ///< Times faster at most.
    double share = 0; ///< The share of the GPU's room for blocks that all of them take together.
};

/// Refuses with the first gate that does not hold, see SKILL.md.
[[nodiscard]] Gated<OverlapPlan> planOverlap(const SkillContext& context);

} // namespace kernelskill::skills
