/// Picks the plans for a version of the kernel that a round takes, and orders them.
#pragma once

#include "engine/optimization/optimization.h"
#include "engine/planning/plan.h"

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// Plans by their skill and its option.
using TriedPlans = std::set<std::pair<std::string, int>>;

struct RoundPlans {
    std::vector<RankedSkill> open;  ///< They have the order in which rounds take them.
    std::vector<RuledOut> ruledOut; ///< What the planner ruled out, and what was tried.
};

/// The number of plans that a round takes. Where plans are measured it looks at several for each
/// that it reviews, since looking is quick.
[[nodiscard]] std::size_t plansOfARound(const OptimizationOptions& options);

/// Takes the plans that were not tried on the version. The planner's order holds among the skills:
/// further options of a skill come behind the first plans of all skills that answer a bottleneck,
/// so that they do not keep these out of a round. What failed on this code before, what was tried,
/// and what was `slower` on a version before this one, is ruled out if `usesMemory`.
[[nodiscard]] RoundPlans roundPlans(Plan plan, const TriedPlans& tried, const TriedPlans& slower,
                                    bool usesMemory);

} // namespace kernelskill::engine
