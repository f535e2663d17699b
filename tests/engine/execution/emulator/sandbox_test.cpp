#include "tests/engine/execution/emulator/test_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

namespace kernelskill::engine::emulator {
namespace {

using testing::HasSubstr;

WorkerReport intrude(int what) {
    BufferSpec out = output("out", 1);
    out.element = analysis::ScalarKind::Int32;
    return run(jobFor("intruders", what, {1, 1, 1}, {1, 1, 1}, {out}));
}

void expectRefused(int what, const std::string& call) {
    const WorkerReport report = intrude(what);
    ASSERT_TRUE(report.failure.has_value()) << call;
    EXPECT_EQ(report.failure->kind, ErrorKind::Unsupported);
    EXPECT_THAT(report.failure->what,
                HasSubstr("called " + call + "(), which the sandbox refuses"));
    EXPECT_THAT(report.failure->what, HasSubstr("thread (0,0,0) of block (0,0,0)"));
}

TEST(Sandbox, RefusesFiles) {
    expectRefused(0, "openat");
    expectRefused(6, "openat");
    EXPECT_FALSE(std::filesystem::exists("/tmp/kernelskill-was-here"));
}

TEST(Sandbox, RefusesSockets) {
    expectRefused(1, "socket");
}

TEST(Sandbox, RefusesProcesses) {
    expectRefused(2, "clone");
    expectRefused(3, "execve");
    expectRefused(4, "kill");
}

TEST(Sandbox, RefusesToWriteWhereReportsGo) {
    expectRefused(5, "write");
}

TEST(Sandbox, LeavesNoEnvironmentBehind) {
    const WorkerReport report = intrude(7);
    EXPECT_FALSE(report.failure.has_value());
    EXPECT_EQ(valuesOf<int>(report, "out").front(), 1);
}

TEST(Sandbox, HoldsForStaticInitialisersToo) {
    const WorkerReport report =
        run(jobFor("intruding_initialiser", 0, {1, 1, 1}, {1, 1, 1}, {output("out", 1)}));
    ASSERT_TRUE(report.failure.has_value());
    EXPECT_EQ(report.failure->kind, ErrorKind::Unsupported);
    EXPECT_THAT(report.failure->what,
                HasSubstr("static initialisation of the image called openat"));
}

TEST(Sandbox, StopsAKernelThatWritesWithoutEndWhereReportsGo) {
    for (const int what : {10, 11}) {
        const auto began = std::chrono::steady_clock::now();
        const WorkerReport report = intrude(what);
        ASSERT_TRUE(report.failure.has_value());
        EXPECT_THAT(report.failure->what, HasSubstr("wrote to the emulator's own channel"));
        EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
    }
}

TEST(Sandbox, TurnsATrapIntoAReport) {
    const WorkerReport report = intrude(8);
    ASSERT_TRUE(report.failure.has_value());
    EXPECT_EQ(report.failure->kind, ErrorKind::Failed);
    EXPECT_NE(report.failure->site, 0u);
}

TEST(Sandbox, TurnsAnAbortIntoAReport) {
    const WorkerReport report = intrude(9);
    ASSERT_TRUE(report.failure.has_value());
    EXPECT_THAT(report.failure->what, HasSubstr("aborted"));
}

TEST(Sandbox, RefusesAnImageThatIsNone) {
    WorkerJob job = jobFor("intruders", 0, {1, 1, 1}, {1, 1, 1}, {output("out", 1)});
    job.image = "/etc/passwd";
    const WorkerReport report = run(job);
    ASSERT_TRUE(report.failure.has_value());
    EXPECT_THAT(report.failure->what, HasSubstr("cannot load the compiled kernel"));
}

} // namespace
} // namespace kernelskill::engine::emulator
