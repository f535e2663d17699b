#include "engine/execution/gpu/runner_pool.h"
#include "tests/engine/execution/gpu/child_processes.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
#include <string>
#include <thread>

namespace kernelskill::engine::gpu {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class RunnerPoolTest : public ::testing::Test {
protected:
    static std::unique_ptr<RunnerPool> open(const char* devices = "1") {
        ::setenv("CUDA_VISIBLE_DEVICES", devices, 1);
        auto pool = RunnerPool::open({KERNELSKILL_TEST_RUNNER, {}, {}}, {});
        EXPECT_TRUE(pool) << pool.error().describe();
        return pool ? std::move(*pool) : nullptr;
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
    const auto pool = RunnerPool::open({"/nowhere/kernelskill-runner", {}, {}}, {});
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

TEST_F(RunnerPoolTest, SpreadsJobsOverTheDevices) {
    const auto pool = open("4");
    std::set<std::string> devices;
    std::mutex mutex;
    std::vector<std::jthread> askers;
    for (int i = 0; i < 4; ++i)
        askers.emplace_back([&] {
            for (int job = 0; job < 4; ++job) {
                EXPECT_TRUE(order(*pool, "sleep:50"));
                const auto device = order(*pool, "device");
                ASSERT_TRUE(device);
                const std::scoped_lock lock(mutex);
                devices.insert(*device);
            }
        });
    askers.clear();
    EXPECT_EQ(devices, (std::set<std::string>{"0", "1", "2", "3"}));
}

TEST_F(RunnerPoolTest, LosesNoJobWhenRunnersAreKilledAtRandom) {
    const auto pool = open("2");
    std::atomic<bool> done = false;
    std::atomic<int> kills = 0;
    const std::jthread killer([&] {
        std::mt19937 random(1);
        while (!done) {
            std::this_thread::sleep_for(milliseconds(20 + random() % 120));
            const auto victims = testing::childProcesses();
            if (!victims.empty() && ::kill(victims[random() % victims.size()], SIGKILL) == 0)
                ++kills;
        }
    });
    std::atomic<int> answered = 0;
    {
        std::vector<std::jthread> askers;
        for (int asker = 0; asker < 2; ++asker)
            askers.emplace_back([&, asker] {
                for (int job = 0; job < 100; ++job) {
                    const auto name = "sleep:10 job " + std::to_string(100 * asker + job);
                    const auto answer = order(*pool, name);
                    ASSERT_TRUE(answer) << answer.error().describe();
                    EXPECT_TRUE(answer->starts_with(name)) << *answer;
                    ++answered;
                }
            });
    }
    done = true;
    EXPECT_EQ(answered, 200);
    EXPECT_GT(kills, 5);
}

} // namespace
} // namespace kernelskill::engine::gpu
