#include "engine/execution/gpu/runner_pool.h"
#include "tests/engine/execution/gpu/child_processes.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

namespace kernelskill::engine::gpu {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class RunnerPoolTest : public ::testing::Test {
protected:
    void TearDown() override { ::unsetenv("CUDA_VISIBLE_DEVICES"); }

    /// A machine with `gpus`, whose $CUDA_VISIBLE_DEVICES is `visible`.
    static Result<std::unique_ptr<RunnerPool>> tryOpen(const std::string& gpus,
                                                       const char* visible = nullptr) {
        if (visible != nullptr)
            ::setenv("CUDA_VISIBLE_DEVICES", visible, 1);
        else
            ::unsetenv("CUDA_VISIBLE_DEVICES");
        return RunnerPool::open(
            {.executable = paths::testRunner, .prefix = {"/usr/bin/env", "GPUS=" + gpus}}, {});
    }
    static std::unique_ptr<RunnerPool> open(const std::string& gpus = "test runner 9.0",
                                            const char* visible = nullptr) {
        auto pool = tryOpen(gpus, visible);
        EXPECT_TRUE(pool) << pool.error().describe();
        return pool ? std::move(*pool) : nullptr;
    }

    /// The answers of runners that are asked at the same time.
    static std::multiset<std::string> askTogether(RunnerPool& pool, const std::string& question,
                                                  int runners) {
        std::multiset<std::string> answers;
        std::mutex mutex;
        std::vector<std::jthread> askers;
        for (int i = 0; i < runners; ++i)
            askers.emplace_back([&] {
                const auto answer = order(pool, question);
                ASSERT_TRUE(answer) << answer.error().describe();
                const std::scoped_lock lock(mutex);
                answers.insert(*answer);
            });
        askers.clear();
        return answers;
    }

    static Result<std::string> order(RunnerPool& pool, std::string what,
                                     std::stop_token stop = {}) {
        RunRequest request;
        request.subject.symbol = std::move(what);
        auto answer = pool.ask(request, std::move(stop));
        if (!answer)
            return std::unexpected(answer.error());
        return std::get<RunAnswer>(*answer).printed;
    }
};

TEST_F(RunnerPoolTest, AsksARunner) {
    const auto pool = open();
    EXPECT_EQ(pool->device().name, "test runner");
    const auto answer = order(*pool, "hello");
    ASSERT_TRUE(answer) << answer.error().describe();
    EXPECT_THAT(*answer, HasSubstr("hello by "));
}

TEST_F(RunnerPoolTest, KeepsARunnerThatIsWell) {
    const auto pool = open();
    EXPECT_EQ(order(*pool, "again").value(), order(*pool, "again").value());
}

TEST_F(RunnerPoolTest, IsMissingWithoutARunner) {
    const auto pool = RunnerPool::open({.executable = "/nowhere/kernelskill-runner"}, {});
    ASSERT_FALSE(pool);
    EXPECT_EQ(pool.error().kind, ErrorKind::Missing);
    EXPECT_FALSE(pool.error().remedy.empty());
}

TEST_F(RunnerPoolTest, AsksAgainWhenARunnerDies) {
    const testing::TemporaryFolder folder;
    const auto pool = open();
    const auto answer = order(*pool, "die-once:" + (folder.path() / "died").string());
    ASSERT_TRUE(answer) << answer.error().describe();
}

TEST_F(RunnerPoolTest, GivesUpOnAJobThatKillsEveryRunner) {
    const auto pool = open();
    const auto answer = order(*pool, "die");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::Failed);
    EXPECT_TRUE(order(*pool, "next"));
}

TEST_F(RunnerPoolTest, ReplacesARunnerWhoseContextIsLost) {
    const auto pool = open();
    const auto before = order(*pool, "who");
    const auto failed = order(*pool, "fatal");
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().what, "illegal address");
    const auto after = order(*pool, "who");
    ASSERT_TRUE(after) << after.error().describe();
    EXPECT_NE(*before, *after);
}

TEST_F(RunnerPoolTest, TakesNoGarbage) {
    const auto pool = open();
    const auto answer = order(*pool, "garbage");
    ASSERT_FALSE(answer);
    EXPECT_TRUE(order(*pool, "next"));
}

TEST_F(RunnerPoolTest, IsCancelledAtOnce) {
    const auto pool = open();
    std::stop_source source;
    const std::jthread canceller([&] {
        std::this_thread::sleep_for(milliseconds(100));
        source.request_stop();
    });
    const auto begin = std::chrono::steady_clock::now();
    const auto answer = order(*pool, "sleep:20000", source.get_token());
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::Cancelled);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(2000));
    EXPECT_TRUE(order(*pool, "next"));
}

constexpr const char* fourGpus = "H100 9.0,H100 9.0,H100 9.0,H100 9.0";
using Names = std::multiset<std::string>;

TEST_F(RunnerPoolTest, SpreadsJobsOverTheDevices) {
    const auto pool = open(fourGpus);
    EXPECT_EQ(pool->device().devices, 4);
    EXPECT_EQ(askTogether(*pool, "device:300", 4), (Names{"0", "1", "2", "3"}));
}

TEST_F(RunnerPoolTest, UsesTheDevicesThatAreVisibleInTheirOrder) {
    const auto pool = open(fourGpus, "3,1");
    EXPECT_EQ(pool->device().uuid, "GPU-3");
    EXPECT_EQ(askTogether(*pool, "gpu:300", 2), (Names{"GPU-1", "GPU-3"}));
}

TEST_F(RunnerPoolTest, UsesTheDevicesThatAreNamedByUuid) {
    const auto pool = open(fourGpus, "GPU-2,GPU-0");
    EXPECT_EQ(pool->device().uuid, "GPU-2");
    EXPECT_EQ(askTogether(*pool, "gpu:300", 2), (Names{"GPU-0", "GPU-2"}));
}

TEST_F(RunnerPoolTest, IsMissingWhereNoDeviceIsVisible) {
    for (const char* none : {"", "-1", "NoDevFiles"}) {
        const auto pool = tryOpen(fourGpus, none);
        ASSERT_FALSE(pool) << none;
        EXPECT_EQ(pool.error().kind, ErrorKind::Missing);
    }
}

TEST_F(RunnerPoolTest, LeavesDevicesOfAnotherModelAlone) {
    const auto pool = open("H100 9.0,T4 7.5,H100 9.0,A100 8.0");
    const auto answers = askTogether(*pool, "gpu:200", 4);
    EXPECT_EQ(answers, (Names{"GPU-0", "GPU-0", "GPU-2", "GPU-2"}));
}

TEST_F(RunnerPoolTest, LosesNoJobWhenRunnersAreKilledAtRandom) {
    const auto pool = open("H100 9.0,H100 9.0");
    constexpr int jobs = 100;
    std::array<std::atomic<int>, 2> answered{};
    std::atomic<int> kills = 0;
    const std::jthread killer([&](const std::stop_token& stop) {
        std::mt19937 random(1);
        std::array<int, 2> seen{-2, -2};
        while (!stop.stop_requested()) {
            std::this_thread::sleep_for(milliseconds(20 + random() % 120));
            // Each asker has had answers since: a job whose runners die again and again is given
            // up.
            bool isNext = true;
            for (std::size_t asker = 0; asker < seen.size(); ++asker)
                isNext = isNext && (answered[asker] > seen[asker] + 1 || answered[asker] == jobs);
            const auto victims = testing::childProcesses();
            if (!isNext || victims.empty())
                continue;
            for (std::size_t asker = 0; asker < seen.size(); ++asker)
                seen[asker] = answered[asker];
            if (::kill(victims[random() % victims.size()], SIGKILL) == 0)
                ++kills;
        }
    });
    {
        std::vector<std::jthread> askers;
        for (std::size_t asker = 0; asker < answered.size(); ++asker)
            askers.emplace_back([&, asker] {
                for (int job = 0; job < jobs; ++job) {
                    const auto name = "sleep:10 job " + std::to_string(jobs * asker + job);
                    const auto answer = order(*pool, name);
                    ASSERT_TRUE(answer) << answer.error().describe();
                    EXPECT_TRUE(answer->starts_with(name)) << *answer;
                    ++answered[asker];
                }
            });
    }
    for (const std::atomic<int>& count : answered)
        EXPECT_EQ(count, jobs);
    EXPECT_GT(kills, 5);
}

} // namespace
} // namespace kernelskill::engine::gpu
