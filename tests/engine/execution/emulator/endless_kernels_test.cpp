#include "tests/engine/execution/emulator/test_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine::emulator {
namespace {

using testing::HasSubstr;

BufferSpec integers(BufferSpec spec) {
    spec.element = analysis::ScalarKind::Int32;
    return spec;
}

TEST(EndlessKernels, AreCutOffWhenTheTimeIsUpWhereTheySpin) {
    WorkerJob job = jobFor("endless", 0, {1, 1, 1}, {32, 1, 1},
                           {integers(input("flag", 1)), integers(output("out", 1))});
    job.job.limits.time = std::chrono::milliseconds{200};
    const WorkerReport report = run(job);
    ASSERT_TRUE(report.failure.has_value());
    EXPECT_THAT(report.failure->what, HasSubstr("cut off after 200 ms"));
    EXPECT_THAT(report.failure->what, HasSubstr("of block (0,0,0) was at"));
    EXPECT_NE(report.failure->site, 0u);
}

TEST(EndlessKernels, AreCutOffEvenIfTheyTouchNoMemory) {
    WorkerJob job = jobFor("endless", 1, {1, 1, 1}, {32, 1, 1}, {integers(output("out", 1))});
    job.job.limits.time = std::chrono::milliseconds{200};
    const WorkerReport report = run(job);
    ASSERT_TRUE(report.failure.has_value());
    EXPECT_THAT(report.failure->what, HasSubstr("cut off after 200 ms"));
    EXPECT_NE(report.failure->site, 0u);
}

TEST(EndlessKernels, AreCutOffWhenTheirAccessesAreSpent) {
    WorkerJob job = jobFor("endless", 2, {1, 1, 1}, {32, 1, 1},
                           {input("in", 64), output("out", 1), scalar(64)});
    job.job.limits.accesses = 100'000;
    const WorkerReport report = run(job);
    ASSERT_TRUE(report.failure.has_value());
    EXPECT_THAT(report.failure->what, HasSubstr("cut off after 100000 memory accesses"));
    EXPECT_NE(report.failure->site, 0u);
}

TEST(EndlessKernels, AProfileOfManyLongBlocksStopsBetweenTwoOfThem) {
    WorkerJob job =
        jobFor("endless", 3, {1'000'000, 1, 1}, {32, 1, 1}, {output("out", 32), scalar(2000)});
    job.job.wantProfile = true;
    job.job.wantOutputs = false;
    job.job.limits.time = std::chrono::seconds{4};
    const WorkerReport report = run(job);
    ASSERT_FALSE(report.failure.has_value()) << report.failure->what;
    EXPECT_GT(report.blocksRun, 0u);
    EXPECT_LT(report.blocksRun, 1'000'000u);
}

} // namespace
} // namespace kernelskill::engine::emulator
