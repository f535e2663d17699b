#include "engine/whole_program/search_budget.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using std::chrono::seconds;

TEST(SearchBudget, TimeFollowsTheWeights) {
    const std::vector<double> weights{0.6, 0.3, 0.1};
    EXPECT_EQ(timeForNext(weights, seconds(60)), seconds(36));
    // The first took 10 s less than it had: the others get it.
    EXPECT_EQ(timeForNext(std::span(weights).subspan(1), seconds(34)), seconds(25));
    EXPECT_EQ(timeForNext(std::span(weights).subspan(2), seconds(9)), seconds(9));
    EXPECT_EQ(timeForNext(std::vector<double>{0, 0}, seconds(60)), seconds(55));
    EXPECT_EQ(timeForNext(std::vector<double>{0, 0}, seconds(20)), seconds(15));
}

TEST(SearchBudget, EachKernelHasEnoughToBegin) {
    const std::vector<double> weights{0.98, 0.01, 0.01};
    EXPECT_EQ(timeForNext(weights, seconds(60)), seconds(50)) << "the others get 5 s each";
    EXPECT_EQ(timeForNext(weights, seconds(3)), minSearchTime);
    EXPECT_EQ(timeForNext(std::span(weights).subspan(2), seconds(-20)), minSearchTime)
        << "those before took more than they had";
}

TEST(SearchBudget, AShortBudgetIsForFewKernels) {
    EXPECT_EQ(searchableKernels(3, seconds(60)), 3u);
    EXPECT_EQ(searchableKernels(3, seconds(12)), 2u);
    EXPECT_EQ(searchableKernels(3, seconds(1)), 1u);
    EXPECT_EQ(searchableKernels(0, seconds(60)), 0u);
}

TEST(SearchBudget, SavingIsMeasuredElseDiagnosed) {
    Bottleneck bottleneck;
    EXPECT_DOUBLE_EQ(savingAtMost(std::nullopt, bottleneck), 1);
    bottleneck.gain = Gain{{1, 4}, "a model"};
    EXPECT_DOUBLE_EQ(savingAtMost(std::nullopt, bottleneck), 0.75);
    bottleneck.gain = Gain{{1, 1}, "a model"};
    EXPECT_DOUBLE_EQ(savingAtMost(std::nullopt, bottleneck), 0.05);
    MeasuredRoofline measured;
    measured.memoryPercent = 60;
    EXPECT_DOUBLE_EQ(savingAtMost(measured, bottleneck), 0.4);
    measured.memoryPercent = 120;
    EXPECT_DOUBLE_EQ(savingAtMost(measured, bottleneck), 0.05) << "more than its ceiling";
}

} // namespace
} // namespace kernelskill::engine
