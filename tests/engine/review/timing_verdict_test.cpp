#include "engine/review/timing_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace kernelskill::engine {
namespace {

using testing::HasSubstr;

std::vector<double> noisy(double around, double spread, std::size_t rounds, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(0, spread);
    std::vector<double> times;
    for (std::size_t i = 0; i < rounds; ++i)
        times.push_back(around * (1 + noise(random)));
    return times;
}

TEST(TimingVerdict, FindsNothingBetweenAKernelAndItself) {
    int found = 0;
    for (unsigned seed = 0; seed < 5000; ++seed) {
        const auto verdict =
            judgeTimes(noisy(10, 0.05, 40, 2 * seed), noisy(10, 0.05, 40, 2 * seed + 1), {});
        found += verdict.status != VerdictStatus::Inconclusive;
    }
    EXPECT_LE(found, 2); // a confidence of 99.99 %: one in ten thousand, at most
}

TEST(TimingVerdict, FindsADifferenceLargerThanTheNoise) {
    const auto slow = noisy(12, 0.02, 40, 1);
    const auto fast = noisy(10, 0.02, 40, 2);
    const auto verdict = judgeTimes(slow, fast, {});
    EXPECT_EQ(verdict.status, VerdictStatus::Faster);
    EXPECT_NEAR(verdict.speedup, 1.2, 0.03);
    EXPECT_LT(verdict.least, 1.2);
    EXPECT_GT(verdict.most, 1.2);
    EXPECT_THAT(verdict.sentence, HasSubstr("99.99 % confidence"));
    EXPECT_EQ(judgeTimes(fast, slow, {}).status, VerdictStatus::Slower);
}

TEST(TimingVerdict, MoreRoundsDecideWhatAFewLeaveOpen) {
    const auto few = judgeTimes(noisy(11, 0.1, 20, 5), noisy(10, 0.1, 20, 6), {});
    ASSERT_EQ(few.status, VerdictStatus::Inconclusive);
    EXPECT_TRUE(mayBeFaster(few));
    const auto more = judgeTimes(noisy(11, 0.1, 100, 5), noisy(10, 0.1, 100, 6), {});
    EXPECT_EQ(more.status, VerdictStatus::Faster);
    EXPECT_FALSE(mayBeFaster(more));
    const std::vector<double> same(20, 10);
    EXPECT_FALSE(mayBeFaster(judgeTimes(same, same, {})));
    EXPECT_FALSE(mayBeFaster(judgeTimes(noisy(10, 0.1, 20, 5), noisy(11, 0.1, 20, 6), {})));
}

TEST(TimingVerdict, DoesNotCallAHalfPercentADifference) {
    const std::vector<double> original(50, 10.05);
    const std::vector<double> candidate(50, 10.0);
    EXPECT_EQ(judgeTimes(original, candidate, {}).status, VerdictStatus::Inconclusive);
}

TEST(TimingVerdict, IsNotMovedByAFewOutliers) {
    auto original = noisy(10, 0.01, 41, 3);
    for (std::size_t i = 0; i < 8; ++i)
        original[5 * i] *= 30;
    EXPECT_EQ(judgeTimes(original, noisy(10, 0.01, 41, 4), {}).status, VerdictStatus::Inconclusive);
}

TEST(TimingVerdict, AFewRoundsShowThatAKernelIsFarSlower) {
    const std::vector<double> original{20, 21, 20};
    EXPECT_EQ(judgeTimes(original, std::vector<double>{90, 95, 100}, {}).status,
              VerdictStatus::Slower);
    EXPECT_EQ(judgeTimes(original, std::vector<double>{900}, {}).status, VerdictStatus::Slower);
    EXPECT_EQ(judgeTimes(original, std::vector<double>{90, 50, 100}, {}).status,
              VerdictStatus::Inconclusive);
}

TEST(TimingVerdict, NeedsRounds) {
    EXPECT_EQ(judgeTimes(std::vector<double>(15, 20.0), std::vector<double>(15, 10.0), {}).status,
              VerdictStatus::Inconclusive);
    EXPECT_EQ(judgeTimes(std::vector<double>(16, 20.0), std::vector<double>(16, 10.0), {}).status,
              VerdictStatus::Faster);
    EXPECT_EQ(judgeTimes({}, {}, {}).status, VerdictStatus::Inconclusive);
}

TEST(TimingVerdict, IsInvalidBelowTheFloor) {
    const std::vector<double> original(30, 20.0);
    const std::vector<double> candidate(30, 4.0);
    const auto verdict = judgeTimes(original, candidate, 5.0);
    EXPECT_EQ(verdict.status, VerdictStatus::Invalid);
    EXPECT_THAT(verdict.sentence, HasSubstr("cannot have done the work"));
    EXPECT_EQ(judgeTimes(original, candidate, 3.9).status, VerdictStatus::Faster);
}

TEST(TimeSummary, IsMedianAndQuartiles) {
    const std::vector<double> times{5, 1, 4, 2, 3};
    const auto summary = summarise(times);
    EXPECT_EQ(summary.median, 3);
    EXPECT_EQ(summary.lower, 2);
    EXPECT_EQ(summary.upper, 4);
    EXPECT_EQ(summary.rounds, 5u);
}

} // namespace
} // namespace kernelskill::engine
