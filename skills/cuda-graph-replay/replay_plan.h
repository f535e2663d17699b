/// A loop of launches that can be captured into a graph.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>
#include <expected>
#include <optional>
#include <vector>

namespace kernelskill::skills {

/// Calls of the host that start work, with so many steps in a graph. To capture a launch and to put
/// it into the graph count as one each.
struct ReplayCost {
    std::int64_t stepsInGraph = 0;
    std::int64_t callsBefore = 0;
    std::int64_t callsAfter = 0;
};

/// The cheapest number of steps in a graph, a multiple of `period`, for `rounds` steps of
/// `launches` launches; nullopt where less than half of the calls would be saved.
[[nodiscard]] std::optional<ReplayCost> cheapestReplay(std::int64_t rounds, std::int64_t launches,
                                                       std::int64_t period);

struct ReplayPlan {
    std::uint32_t host = analysis::noId; ///< Index into FileModel::hostFunctions.
    analysis::StmtId loop = analysis::noId;
    analysis::ExprId limit = analysis::noId; ///< The limit of `for (int i = 0; i < limit; ++i)`.
    std::int64_t rounds = 0;
    std::vector<const analysis::LaunchSite*> launches; ///< In the loop; they live in the file.
    analysis::ExprId stream =
        analysis::noId; ///< The stream of all launches; noId: the default one.
    ReplayCost cost;
};

/// Refuses with the first gate that does not hold, see SKILL.md.
[[nodiscard]] Gated<ReplayPlan> planReplay(const SkillContext& context);

} // namespace kernelskill::skills
