#include "engine/search/round_plans.h"

#include <algorithm>

namespace kernelskill::engine {
namespace {

constexpr int screenedForEach = 4;

/// Moves the further options of skills behind the first plans of all skills that answer a
/// bottleneck.
void putOtherSkillsFirst(std::vector<RankedSkill>& plans) {
    std::set<std::string> seen;
    std::ranges::stable_partition(plans, [&](const RankedSkill& plan) {
        return seen.insert(plan.offer.skillId).second && plan.answers != AnswersTo::Nothing;
    });
}

} // namespace

std::size_t plansOfARound(const OptimizationOptions& options) {
    const int plans = std::max(1, options.beam) * (options.measure ? screenedForEach : 1);
    return static_cast<std::size_t>(plans);
}

RoundPlans roundPlans(Plan plan, const TriedPlans& tried, bool usesMemory) {
    RoundPlans plans;
    plans.ruledOut = std::move(plan.ruledOut);
    for (RankedSkill& ranked : plan.ranked) {
        const bool isTried = tried.contains({ranked.offer.skillId, ranked.offer.option});
        if (usesMemory && (ranked.failedBefore || isTried))
            plans.ruledOut.push_back({ranked.offer.skillId, ranked.failedBefore
                                                                ? ranked.why
                                                                : "tried on this version already"});
        else
            plans.open.push_back(std::move(ranked));
    }
    putOtherSkillsFirst(plans.open);
    return plans;
}

} // namespace kernelskill::engine
