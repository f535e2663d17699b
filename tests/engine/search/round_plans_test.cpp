#include "engine/search/round_plans.h"

#include <gmock/gmock.h>
#include <spdlog/fmt/fmt.h>

#include <string>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;

RankedSkill planOf(const std::string& skill, int option, AnswersTo answers) {
    RankedSkill plan;
    plan.offer.skillId = skill;
    plan.offer.option = option;
    plan.answers = answers;
    return plan;
}

std::vector<std::string> namesOf(const std::vector<RankedSkill>& plans) {
    std::vector<std::string> names;
    for (const RankedSkill& plan : plans)
        names.push_back(fmt::format("{}{}", plan.offer.skillId, plan.offer.option));
    return names;
}

Plan planned() {
    Plan plan;
    for (const int option : {0, 1, 2})
        plan.ranked.push_back(planOf("a", option, AnswersTo::Leading));
    for (const int option : {0, 1})
        plan.ranked.push_back(planOf("b", option, AnswersTo::Further));
    plan.ranked.push_back(planOf("c", 0, AnswersTo::Nothing));
    return plan;
}

TEST(RoundPlans, TakesAllSkillsThatAnswerBeforeFurtherOptionsOfOne) {
    EXPECT_THAT(namesOf(roundPlans(planned(), {}, {}, true).open),
                ElementsAre("a0", "b0", "a1", "a2", "b1", "c0"));
}

TEST(RoundPlans, TakesTheNextOptionOfASkillThatWasTried) {
    const RoundPlans plans = roundPlans(planned(), {{"a", 0}, {"b", 0}}, {}, true);
    EXPECT_THAT(namesOf(plans.open), ElementsAre("a1", "b1", "a2", "c0"));
    ASSERT_EQ(plans.ruledOut.size(), 2u);
    EXPECT_EQ(plans.ruledOut.front().why, "tried on this version already");
}

TEST(RoundPlans, LeavesOutWhatWasSlowerBeforeAndSaysSo) {
    const RoundPlans plans = roundPlans(planned(), {{"a", 0}}, {{"a", 0}, {"b", 0}}, true);
    EXPECT_THAT(namesOf(plans.open), ElementsAre("a1", "b1", "a2", "c0"));
    ASSERT_EQ(plans.ruledOut.size(), 2u);
    EXPECT_EQ(plans.ruledOut.at(0).why, "tried on this version already");
    EXPECT_EQ(plans.ruledOut.at(1).why,
              "clearly slower on the version that this step leads on from");
}

TEST(RoundPlans, LeavesOutWhatFailedOnThisCodeUnlessThereIsNoMemory) {
    Plan plan = planned();
    plan.ranked.front().failedBefore = true;
    plan.ranked.front().why = "Failed before.";
    const RoundPlans plans = roundPlans(plan, {}, {}, true);
    EXPECT_THAT(namesOf(plans.open), ElementsAre("a1", "b0", "a2", "b1", "c0"));
    EXPECT_EQ(plans.ruledOut.front().why, "Failed before.");
    EXPECT_EQ(roundPlans(plan, {{"b", 0}}, {{"c", 0}}, false).open.size(), 6u);
}

TEST(RoundPlans, ARoundLooksAtMorePlansWhereTheyAreMeasured) {
    OptimizationOptions options;
    options.beam = 3;
    EXPECT_EQ(plansOfARound(options), 3u);
    options.measure = true;
    EXPECT_EQ(plansOfARound(options), 12u);
}

} // namespace
} // namespace kernelskill::engine
