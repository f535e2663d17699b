#include "engine/whole_program/search_budget.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using std::chrono::seconds;

TEST(SearchBudget, TimeFollowsTheWeights) {
    const std::vector<double> weights{0.6, 0.3, 0.1};
    const seconds least(5);
    EXPECT_EQ(timeForNext(weights, seconds(60), least), seconds(36));
    // The first took 10 s less than it had: the others get it.
    EXPECT_EQ(timeForNext(std::span(weights).subspan(1), seconds(34), least), seconds(25));
    EXPECT_EQ(timeForNext(std::span(weights).subspan(2), seconds(9), least), seconds(9));
    EXPECT_EQ(timeForNext(std::vector<double>{0, 0}, seconds(60), least), seconds(55));
    EXPECT_EQ(timeForNext(std::vector<double>{0, 0}, seconds(20), least), seconds(15));
}

TEST(SearchBudget, EachKernelHasEnoughToBegin) {
    const std::vector<double> weights{0.98, 0.01, 0.01};
    const seconds least(2);
    EXPECT_EQ(timeForNext(weights, seconds(60), least), seconds(56)) << "the others get 2 s each";
    EXPECT_EQ(timeForNext(weights, seconds(3), least), least);
    EXPECT_EQ(timeForNext(std::span(weights).subspan(2), seconds(-20), least), least)
        << "those before took more than they had";
}

TEST(SearchBudget, HalfOfTheTimeIsForAllAlike) {
    EXPECT_EQ(leastSearchTime(1, seconds(60)), seconds(5));
    EXPECT_EQ(leastSearchTime(6, seconds(60)), seconds(5));
    EXPECT_EQ(leastSearchTime(10, seconds(60)), seconds(3));
    EXPECT_EQ(leastSearchTime(10, seconds(20)), minSearchTime);
    EXPECT_EQ(leastSearchTime(0, seconds(20)), seconds(5));
    // Four kernels in 20 s: that with most to gain has more than the others.
    const std::vector<double> weights{0.7, 0.1, 0.1, 0.1};
    EXPECT_EQ(timeForNext(weights, seconds(20), leastSearchTime(4, seconds(20))), seconds(14));
}

TEST(SearchBudget, AShortBudgetIsForFewKernels) {
    EXPECT_EQ(searchableKernels(seconds(60)), 30u) << "all hot ones: no more than 20 can be";
    EXPECT_EQ(searchableKernels(seconds(20)), 10u);
    EXPECT_EQ(searchableKernels(seconds(5)), 2u);
    EXPECT_EQ(searchableKernels(seconds(0)), 1u);
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
