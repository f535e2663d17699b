#include "engine/execution/emulator/worker_process.h"
#include "tests/engine/execution/emulator/test_worker.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace kernelskill::engine::emulator {
namespace {

using namespace std::chrono_literals;

WorkerJob endlessJob() {
    BufferSpec flag = input("flag", 1);
    flag.element = analysis::ScalarKind::Int32;
    WorkerJob job = jobFor("endless", 0, {1, 1, 1}, {32, 1, 1}, {flag, output("out", 1)});
    job.job.limits.time = 60s;
    return job;
}

WorkerJob shortJob() {
    return jobFor("access_patterns", 0, {1, 1, 1}, {32, 1, 1},
                  {input("in", 32), output("out", 32)});
}

TEST(WorkerProcess, IsMissingWhenItsProgramIs) {
    WorkerPool workers{"/nonexistent/kernelskill"};
    const auto report = workers.run(shortJob(), {});
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().kind, ErrorKind::Missing);
    EXPECT_EQ(report.error().where, "/nonexistent/kernelskill");
}

TEST(WorkerProcess, FailsWhenTheProgramIsNoWorker) {
    WorkerPool workers{"/bin/true"};
    const auto report = workers.run(shortJob(), {});
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().kind, ErrorKind::Failed);
}

TEST(WorkerProcess, StopsAtOnceWhenAsked) {
    WorkerPool workers{paths::testWorker};
    std::stop_source stop;
    const auto before = std::chrono::steady_clock::now();
    std::jthread asker{[&] {
        std::this_thread::sleep_for(100ms);
        stop.request_stop();
    }};
    const auto report = workers.run(endlessJob(), stop.get_token());
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().kind, ErrorKind::Cancelled);
    EXPECT_LT(std::chrono::steady_clock::now() - before, 5s);
}

TEST(WorkerProcess, RunsOneJobAfterAnother) {
    auto worker = WorkerProcess::start(paths::testWorker);
    ASSERT_TRUE(worker.has_value());
    for (int i = 0; i < 3; ++i) {
        const auto report = (*worker)->run(shortJob(), 10s, {});
        ASSERT_TRUE(report.has_value()) << report.error().describe();
        EXPECT_FALSE(report->failure.has_value());
        EXPECT_TRUE((*worker)->isAlive());
    }
}

TEST(WorkerProcess, TakesTheNextJobAfterAKernelThatFailed) {
    auto worker = WorkerProcess::start(paths::testWorker);
    ASSERT_TRUE(worker.has_value());
    WorkerJob crash = jobFor("intruders", 9, {1, 1, 1}, {1, 1, 1}, {output("out", 1)});
    const auto crashed = (*worker)->run(crash, 10s, {});
    ASSERT_TRUE(crashed.has_value());
    EXPECT_TRUE(crashed->failure.has_value());
    const auto report = (*worker)->run(shortJob(), 10s, {});
    ASSERT_TRUE(report.has_value());
    EXPECT_FALSE(report->failure.has_value());
}

TEST(WorkerProcess, RunsJobsSideBySide) {
    WorkerPool workers{paths::testWorker};
    std::vector<std::future<bool>> runs;
    for (int i = 0; i < 4; ++i) {
        runs.push_back(std::async(std::launch::async, [&] {
            const auto report = workers.run(shortJob(), {});
            return report.has_value() && !report->failure;
        }));
    }
    for (auto& run : runs)
        EXPECT_TRUE(run.get());
}

} // namespace
} // namespace kernelskill::engine::emulator
