/// The rewrites that bring the lanes of a warp together.
#pragma once

#include "skills/base/skill.h"
#include "skills/coalesced-access/warp_traffic.h"

#include <expected>
#include <string>
#include <vector>

namespace kernelskill::skills {

struct CoalescingRewrite {
    analysis::Span anchor;
    std::string title;
    std::string why;
    WarpTraffic before;
    WarpTraffic after;
    /// Blocks as launched are too narrow for it: the traffic is that of wider ones, and the edit
    /// gains only with such.
    bool needsWiderBlock = false;
    std::vector<analysis::TextEdit> edits; ///< The edits of the kernel's file, launches included.
};

/// A refusal by `other-shape`: the kernel is none that this way is for.
using FoundRewrite = Gated<CoalescingRewrite>;

/// Threads whose threadIdx.x runs along the slow index: the roles of x and y are exchanged.
[[nodiscard]] FoundRewrite exchangeAxes(const SkillContext& context);
/// A thread that walks over its own chunk: the threads walk side by side.
[[nodiscard]] FoundRewrite interleaveChunks(const SkillContext& context);

} // namespace kernelskill::skills
