#include "engine/model/retry.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace kernelskill::engine {
namespace {

using namespace std::chrono_literals;

TEST(RetryTest, ReadsSecondsAndDates) {
    const auto now = std::chrono::sys_days(std::chrono::year(2026) / 3 / 4) + 5h;
    EXPECT_EQ(retryAfter("7", now), 7000ms);
    EXPECT_EQ(retryAfter("0.5", now), 500ms);
    EXPECT_EQ(retryAfter("Wed, 04 Mar 2026 05:00:30 GMT", now), 30000ms);
    EXPECT_EQ(retryAfter("Wed, 04 Mar 2026 04:00:00 GMT", now), 0ms);
    for (const char* nonsense : {"", "-3", "soon", "nan"})
        EXPECT_EQ(retryAfter(nonsense, now), std::nullopt) << nonsense;
    EXPECT_GT(retryAfter("1e300", now), 24h);
}

TEST(RetryTest, BacksOffTwiceAsLongEachTimeUpToTheLongest) {
    const RetryPolicy policy{5, 100ms, 300ms};
    EXPECT_EQ(waitBeforeRetry(policy, 1, {}, 0), 100ms);
    EXPECT_EQ(waitBeforeRetry(policy, 2, {}, 0), 200ms);
    EXPECT_EQ(waitBeforeRetry(policy, 3, {}, 0), 300ms);
    EXPECT_EQ(waitBeforeRetry(policy, 4, {}, 0.5), 262ms);
    EXPECT_EQ(waitBeforeRetry(policy, 5, {}, 0), std::nullopt);
}

TEST(RetryTest, TheServicesOwnTimeGoesFirstUnlessItIsTooLong) {
    const RetryPolicy policy{5, 100ms, 300ms};
    EXPECT_EQ(waitBeforeRetry(policy, 1, 250ms, 0.9), 250ms);
    EXPECT_EQ(waitBeforeRetry(policy, 1, 0ms, 0.9), 0ms);
    EXPECT_EQ(waitBeforeRetry(policy, 1, 301ms, 0), std::nullopt);
    EXPECT_EQ(waitBeforeRetry(policy, 5, 1ms, 0), std::nullopt);
}

TEST(RetryTest, AWaitEndsWhenAskedTo) {
    std::stop_source stop;
    EXPECT_TRUE(waitFor(1ms, stop.get_token()));
    const auto begin = std::chrono::steady_clock::now();
    std::jthread later([&] {
        std::this_thread::sleep_for(20ms);
        stop.request_stop();
    });
    EXPECT_FALSE(waitFor(20s, stop.get_token()));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

} // namespace
} // namespace kernelskill::engine
