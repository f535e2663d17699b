#include "engine/review/schedule_check.h"
#include "tests/engine/comparison/buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::floats;
using ::testing::HasSubstr;

using Answer = std::function<Result<RunResult>(const Schedule&)>;

/// Answers each image by a function of the schedule.
class FakeScheduler final : public Executor {
public:
    [[nodiscard]] std::string_view name() const override { return "fake"; }
    [[nodiscard]] Result<std::shared_ptr<const Image>> build(KernelRef, const LaunchSpec&,
                                                             std::stop_token) override {
        return std::make_shared<const Image>();
    }
    [[nodiscard]] Result<RunResult> run(const Image& image, const Job& job,
                                        std::stop_token) override {
        return answers.at(&image)(job.schedule);
    }
    std::map<const Image*, Answer> answers;
};

RunResult resultOf(std::vector<float> values) {
    RunResult result;
    result.outputs = {floats(values)};
    return result;
}

Result<RunResult> failure() {
    return std::unexpected(Error{ErrorKind::Failed, "cut off", "", ""});
}

CheckResult checked(const Answer& original, const Answer& candidate,
                    const std::vector<LessSynchronisation>& removed = {}) {
    FakeScheduler executor;
    ReviewImages images;
    const auto one = std::make_shared<const Image>();
    const auto other = std::make_shared<const Image>();
    images.original = one;
    images.candidate = other;
    executor.answers = {{one.get(), original}, {other.get(), candidate}};
    const analysis::FileModel file;
    const analysis::KernelModel kernel;
    Trial trial;
    trial.label = "n=8";
    const TrialRunner runner(executor, {file, kernel}, {file, kernel}, images, {},
                             skills::Numerics::Exact, {});
    return checkSchedules(runner, {&trial, 0, 1, 7}, {}, removed, true);
}

const Answer one = [](const Schedule&) { return resultOf({1}); };
const Answer reversedDiffers = [](const Schedule& schedule) {
    return resultOf({schedule.order == Schedule::Order::Reverse ? 2.0f : 1.0f});
};

TEST(ScheduleCheck, HoldsWhereBothAgreeInEveryOrder) {
    const CheckResult check = checked(one, one);
    ASSERT_TRUE(check) << check.error().detail;
    EXPECT_THAT(check->detail, HasSubstr("3 of 3 orders"));
}

TEST(ScheduleCheck, FailsForACandidateWhoseResultDependsOnTheOrder) {
    const CheckResult check = checked(one, reversedDiffers);
    ASSERT_FALSE(check);
    EXPECT_EQ(check.error().status, VerdictStatus::Incorrect);
    EXPECT_THAT(check.error().name, HasSubstr("last thread first"));
}

TEST(ScheduleCheck, DoesNotCompareWhatDependsOnTheOrderInTheOriginal) {
    const CheckResult check = checked(reversedDiffers, one);
    ASSERT_TRUE(check) << check.error().detail;
    EXPECT_THAT(check->detail, HasSubstr("1 of 1 outputs of the original depend on the order"));
}

TEST(ScheduleCheck, FailsForARaceThatIsSeenInOneOrderOnly) {
    const CheckResult check = checked(one, [](const Schedule& schedule) {
        RunResult result = resultOf({1});
        if (schedule.interruption != 0)
            result.profile.hazards.emplace_back();
        return result;
    });
    ASSERT_FALSE(check);
    EXPECT_EQ(check.error().seen.stage, ReviewStage::Hazards);
}

TEST(ScheduleCheck, KnowsTheOriginalsRacesOfAllOrders) {
    const auto racyIn = [](std::uint64_t seed) {
        return [seed](const Schedule& schedule) {
            RunResult result = resultOf({1});
            if (schedule.seed == seed)
                result.profile.hazards.emplace_back();
            return Result<RunResult>(result);
        };
    };
    EXPECT_TRUE(checked(racyIn(3), racyIn(2)));
    EXPECT_FALSE(checked(one, racyIn(2)));
}

TEST(ScheduleCheck, FailsForACandidateThatDoesNotEnd) {
    const CheckResult check = checked(one, [](const Schedule&) { return failure(); });
    ASSERT_FALSE(check);
    EXPECT_EQ(check.error().seen.stage, ReviewStage::Run);
}

TEST(ScheduleCheck, NeedsAnOrderInWhichTheOriginalEndsWhereSynchronisationIsRemoved) {
    const Answer never = [](const Schedule&) { return failure(); };
    EXPECT_TRUE(checked(never, one));
    const CheckResult check = checked(never, one, {{"__threadfence", 2, 1}});
    ASSERT_FALSE(check);
    EXPECT_THAT(check.error().detail, HasSubstr("the edit removes 1 of 2 '__threadfence'"));
    EXPECT_EQ(check.error().seen.stage, ReviewStage::Reach) << "no hazard was seen";
}

TEST(TrialForSchedules, IsTheSmallestWithSeveralBlocks) {
    TrialPlan plan;
    for (const std::uint32_t blocks : {100u, 1u, 4u, 100'000u}) {
        Trial trial;
        trial.original.grid.x = blocks;
        trial.original.block.x = 64;
        plan.trials.push_back(trial);
    }
    EXPECT_EQ(trialForSchedules(plan, {}), 2u);
    Trial other;
    other.original.templateArguments = {"int"};
    EXPECT_EQ(trialForSchedules(plan, other), std::nullopt);
    other = {};
    other.candidate.templateArguments = {"7"};
    EXPECT_EQ(trialForSchedules(plan, other), std::nullopt);
    plan.trials = {plan.trials.back()};
    EXPECT_EQ(trialForSchedules(plan, {}), std::nullopt);
}

} // namespace
} // namespace kernelskill::engine
