#include "engine/execution/emulator/kept_runs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>

namespace kernelskill::engine::emulator {
namespace {

using namespace std::chrono_literals;

WorkerReport reportOf(std::size_t bytes) {
    WorkerReport report;
    report.printed = std::string(bytes, 'x');
    return report;
}

class KeptRunsTest : public ::testing::Test {
protected:
    /// Asks for a run that prints `bytes` bytes. Returns whether it had to be made.
    bool isRun(const std::string& key, std::size_t bytes = 10) {
        bool made = false;
        const auto kept = runs_.of(key,
                                   [&]() -> Result<WorkerReport> {
                                       made = true;
                                       return reportOf(bytes);
                                   },
                                   {});
        EXPECT_TRUE(kept);
        EXPECT_EQ((*kept)->report.printed.size(), bytes);
        return made;
    }

    KeptRuns runs_{100'000};
};

TEST_F(KeptRunsTest, MakesARunOnceAndRemembersHowLongItTook) {
    const auto slow = [&] {
        return runs_.of("a",
                        []() -> Result<WorkerReport> {
                            std::this_thread::sleep_for(5ms);
                            return reportOf(10);
                        },
                        {});
    };
    EXPECT_GE((*slow())->took, 5ms);
    EXPECT_FALSE(isRun("a"));
    EXPECT_GE((*slow())->took, 5ms);
    EXPECT_TRUE(isRun("b"));
}

TEST_F(KeptRunsTest, DropsTheOldestBeyondItsSize) {
    EXPECT_TRUE(isRun("a", 40'000));
    EXPECT_TRUE(isRun("b", 40'000));
    EXPECT_FALSE(isRun("a", 40'000)); // Now "b" is the oldest.
    EXPECT_TRUE(isRun("c", 40'000));
    EXPECT_FALSE(isRun("a", 40'000));
    EXPECT_TRUE(isRun("b", 40'000));
    EXPECT_TRUE(isRun("large", 200'000));
    EXPECT_TRUE(isRun("large", 200'000));
}

TEST_F(KeptRunsTest, KeepsNoFailure) {
    const auto failed =
        runs_.of("a",
                 []() -> Result<WorkerReport> {
                     return std::unexpected(Error{ErrorKind::Cancelled, "stopped", {}, {}});
                 },
                 {});
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().what, "stopped");
    EXPECT_TRUE(isRun("a"));
    const auto crashed = runs_.of("b",
                                  []() -> Result<WorkerReport> {
                                      WorkerReport report;
                                      report.failure.emplace();
                                      return report;
                                  },
                                  {});
    ASSERT_TRUE(crashed);
    EXPECT_TRUE((*crashed)->report.failure);
    EXPECT_TRUE(isRun("b"));
}

TEST_F(KeptRunsTest, KeepsThatAnEstimateWasCutOff) {
    int made = 0;
    const auto ask = [&](bool isCutOff, CutOffRuns cutOffs) {
        const auto kept = runs_.of(
            isCutOff ? "a" : "b",
            [&]() -> Result<WorkerReport> {
                ++made;
                WorkerReport report;
                report.failure.emplace().isCutOff = isCutOff;
                return report;
            },
            {}, cutOffs);
        EXPECT_TRUE(kept && (*kept)->report.failure);
    };
    for (int i = 0; i < 2; ++i)
        ask(true, CutOffRuns::Repeated);
    EXPECT_EQ(made, 2);
    for (int i = 0; i < 2; ++i)
        ask(true, CutOffRuns::Kept);
    EXPECT_EQ(made, 3);
    for (int i = 0; i < 2; ++i)
        ask(false, CutOffRuns::Kept);
    EXPECT_EQ(made, 5) << "another failure says nothing about how long it takes";
}

TEST_F(KeptRunsTest, AThreadWaitsForTheOneThatMakesTheSameRun) {
    std::promise<void> begun;
    std::promise<void> mayEnd;
    std::atomic<int> made = 0;
    const auto run = [&]() -> Result<WorkerReport> {
        if (made++ == 0)
            begun.set_value();
        mayEnd.get_future().wait();
        return reportOf(10);
    };
    auto first = std::async(std::launch::async, [&] { return runs_.of("a", run, {}); });
    begun.get_future().wait();
    auto second = std::async(std::launch::async, [&] { return runs_.of("a", run, {}); });
    EXPECT_EQ(second.wait_for(20ms), std::future_status::timeout);
    std::stop_source stop;
    auto third =
        std::async(std::launch::async, [&] { return runs_.of("a", run, stop.get_token()); });
    EXPECT_TRUE(isRun("b")) << "other runs do not wait";
    stop.request_stop();
    const auto stopped = third.get();
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::Cancelled);
    mayEnd.set_value();
    EXPECT_EQ(*first.get(), *second.get());
    EXPECT_EQ(made, 1);
}

TEST_F(KeptRunsTest, AThreadThatWaitedForAFailureTriesItself) {
    std::promise<void> begun;
    std::promise<void> mayEnd;
    auto first = std::async(std::launch::async, [&] {
        return runs_.of("a",
                        [&]() -> Result<WorkerReport> {
                            begun.set_value();
                            mayEnd.get_future().wait();
                            return std::unexpected(Error{ErrorKind::Failed, "broken", {}, {}});
                        },
                        {});
    });
    begun.get_future().wait();
    auto second = std::async(std::launch::async, [&] { return isRun("a"); });
    EXPECT_EQ(second.wait_for(20ms), std::future_status::timeout);
    mayEnd.set_value();
    EXPECT_FALSE(first.get());
    EXPECT_TRUE(second.get());
}

} // namespace
} // namespace kernelskill::engine::emulator
