#include "engine/search/round_plans.h"

#include <algorithm>
#include <optional>

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

/// Returns why the plan is ruled out; nullopt if it is not.
std::optional<std::string> reasonAgainst(const RankedSkill& ranked, const TriedPlans& tried,
                                         const TriedPlans& slower) {
    const std::pair plan(ranked.offer.skillId, ranked.offer.option);
    if (ranked.failedBefore)
        return ranked.why;
    if (tried.contains(plan))
        return "tried on this version already";
    if (slower.contains(plan))
        return "clearly slower on the version that this step leads on from";
    return std::nullopt;
}

} // namespace

std::size_t plansOfARound(const OptimizationOptions& options) {
    const int plans = std::max(1, options.beam) * (options.measure ? screenedForEach : 1);
    return static_cast<std::size_t>(plans);
}

RoundPlans roundPlans(Plan plan, const TriedPlans& tried, const TriedPlans& slower,
                      bool usesMemory) {
    RoundPlans plans;
    plans.ruledOut = std::move(plan.ruledOut);
    for (RankedSkill& ranked : plan.ranked) {
        auto why = usesMemory ? reasonAgainst(ranked, tried, slower) : std::nullopt;
        if (why)
            plans.ruledOut.push_back({ranked.offer.skillId, *std::move(why)});
        else
            plans.open.push_back(std::move(ranked));
    }
    putOtherSkillsFirst(plans.open);
    return plans;
}

} // namespace kernelskill::engine
