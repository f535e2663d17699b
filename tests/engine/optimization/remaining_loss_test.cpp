#include "engine/optimization/remaining_loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Standing limitedBy(BottleneckKind kind) {
    Standing standing;
    Bottleneck bottleneck;
    bottleneck.kind = kind;
    standing.bottleneck = std::make_shared<const Bottleneck>(std::move(bottleneck));
    return standing;
}

RankedSkill ranked(const std::string& skill, AnswersTo answers = AnswersTo::Leading) {
    RankedSkill result;
    result.offer.skillId = skill;
    result.answers = answers;
    return result;
}

Attempt attempt(const std::string& skill, BottleneckKind kind, const std::string& decision,
                AnswersTo answers = AnswersTo::Leading) {
    Attempt result;
    result.bottleneck = limitedBy(kind).bottleneck;
    result.plan = ranked(skill, answers);
    result.decision = decision;
    return result;
}

TEST(RemainingLoss, NeedsABottleneck) {
    EXPECT_FALSE(remainingLossOf({}, {}, {}));
}

TEST(RemainingLoss, NamesWhatWasTriedAgainstThisBottleneckAndNotKept) {
    std::vector<Attempt> attempts = {
        attempt("row-per-warp", BottleneckKind::UncoalescedAccess, "slower"),
        attempt("launch-tuning", BottleneckKind::Occupancy, "slower"),
        attempt("restrict-and-const", BottleneckKind::UncoalescedAccess, "no effect",
                AnswersTo::Nothing),
        attempt("coalesced-access", BottleneckKind::UncoalescedAccess, "correct, and faster"),
        attempt("row-per-warp", BottleneckKind::UncoalescedAccess, "incorrect"),
    };
    attempts[3].isKept = true;
    const auto loss = remainingLossOf(limitedBy(BottleneckKind::UncoalescedAccess), {}, attempts);
    ASSERT_TRUE(loss);
    EXPECT_THAT(loss->tried, ElementsAre(TriedMethod{"row-per-warp", "incorrect"}));
}

TEST(RemainingLoss, NamesAnswersThatTheSearchDidNotGetTo) {
    Plan plan;
    plan.ranked = {ranked("row-per-warp"), ranked("row-per-block"), ranked("row-per-block"),
                   ranked("loop-unrolling", AnswersTo::Nothing)};
    plan.remedies = {{"scan", "a scan", "no skill", false}};
    std::vector attempts = {
        attempt("row-per-warp", BottleneckKind::UncoalescedAccess, "slower"),
        attempt("row-per-block", BottleneckKind::UncoalescedAccess, "left for later")};
    attempts[1].isPostponed = true;
    const auto loss = remainingLossOf(limitedBy(BottleneckKind::UncoalescedAccess), plan, attempts);
    ASSERT_TRUE(loss);
    EXPECT_THAT(loss->notTried, ElementsAre("row-per-block"));
    EXPECT_THAT(loss->tried, ElementsAre(TriedMethod{"row-per-warp", "slower"}));
    EXPECT_EQ(loss->remedies, plan.remedies);
}

TEST(RemainingLoss, TellsTheDistanceOfTheModelAndItsPartsTheLongestFirst) {
    auto version = limitedBy(BottleneckKind::MemoryLatency);
    version.cost = CostEstimate{
        "an H200", {2e-6, 6e-6}, {{"memory", {1e-6, 2e-6}}, {"latency", {2e-6, 4e-6}}}, 2e-6};
    const auto loss = remainingLossOf(version, {}, {});
    ASSERT_TRUE(loss);
    EXPECT_EQ(loss->distance, (Interval{1, 3}));
    ASSERT_EQ(loss->parts.size(), 2U);
    EXPECT_EQ(loss->parts.front().name, "latency");
    EXPECT_EQ(describeDistance(*loss),
              "by the model, not measured: the roofline is at most 3.0 times as fast");
}

TEST(RemainingLoss, PrefersWhatWasMeasuredToTheModel) {
    auto version = limitedBy(BottleneckKind::MemoryBandwidth);
    version.cost = CostEstimate{"an H200", {2e-6, 6e-6}, {{"memory", {1e-6, 2e-6}}}, 2e-6};
    version.measured.emplace().memoryPercent = 80;
    const auto loss = remainingLossOf(version, {}, {});
    ASSERT_TRUE(loss);
    EXPECT_TRUE(loss->isMeasured);
    EXPECT_THAT(loss->parts, IsEmpty());
    EXPECT_EQ(describeDistance(*loss),
              "measured: 80 % of the roofline, which is 1.25 times as fast");
}

} // namespace
} // namespace kernelskill::engine
