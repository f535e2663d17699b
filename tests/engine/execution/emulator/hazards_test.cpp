#include "tests/engine/execution/emulator/test_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine::emulator {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsNull;
using testing::NotNull;

constexpr Dim3 oneBlock{1, 1, 1};
constexpr Dim3 twoWarps{64, 1, 1};

BufferSpec integers(BufferSpec spec) {
    spec.element = analysis::ScalarKind::Int32;
    return spec;
}

TEST(Hazards, ReportsASharedReadThatNoBarrierOrders) {
    const WorkerReport report = run(jobFor("hazards", 0, oneBlock, twoWarps, {output("out", 64)}));
    const HazardReport* race = hazardOf(report, HazardKind::Race);
    ASSERT_THAT(race, NotNull());
    EXPECT_TRUE(race->certain);
    EXPECT_NE(race->otherSite, 0u);
    EXPECT_THAT(race->message, HasSubstr("shared 's'"));
    EXPECT_THAT(race->message, HasSubstr("no barrier between them"));
}

TEST(Hazards, ReportsTheElementPastTheEndAndGoesOn) {
    const WorkerReport report =
        run(jobFor("hazards", 1, {2, 1, 1}, twoWarps, {output("out", 100), scalar(100)}));
    const HazardReport* hazard = hazardOf(report, HazardKind::OutOfBounds);
    ASSERT_THAT(hazard, NotNull());
    EXPECT_TRUE(hazard->certain);
    EXPECT_THAT(hazard->message, HasSubstr("element 100 of 'out', which has 100 elements"));
    EXPECT_EQ(hazard->block, (Dim3{1, 0, 0}));
    EXPECT_EQ(hazard->thread, (Dim3{36, 0, 0}));
    EXPECT_EQ(valuesOf<float>(report, "out").back(), 99);
}

TEST(Hazards, ReportsAnIndexBeforeTheStartOfABufferOfUnknownExtent) {
    const WorkerReport report =
        run(jobFor("hazards", 2, oneBlock, twoWarps,
                   {unknownExtent(input("in", 0)), unknownExtent(output("out", 0))}));
    const HazardReport* hazard = hazardOf(report, HazardKind::OutOfBounds);
    ASSERT_THAT(hazard, NotNull());
    EXPECT_THAT(hazard->message, HasSubstr("element -1 of 'in'"));
}

TEST(Hazards, IsNotCertainOfBoundsThatWereGuessed) {
    WorkerJob job = jobFor("hazards", 1, {2, 1, 1}, twoWarps, {output("out", 100), scalar(100)});
    job.job.launch.origin = LaunchOrigin::Guessed;
    const WorkerReport report = run(job);
    const HazardReport* hazard = hazardOf(report, HazardKind::OutOfBounds);
    ASSERT_THAT(hazard, NotNull());
    EXPECT_FALSE(hazard->certain);
}

TEST(Hazards, IsNotCertainOfBoundsWhenItMadeUpTheIndices) {
    const WorkerReport report =
        run(jobFor("hazards", 15, oneBlock, twoWarps,
                   {integers(input("index", 64)), input("in", 10), output("out", 64)}));
    const HazardReport* hazard = hazardOf(report, HazardKind::OutOfBounds);
    ASSERT_THAT(hazard, NotNull());
    EXPECT_FALSE(hazard->certain);
}

TEST(Hazards, ReportsSharedMemoryThatNobodyWrote) {
    const WorkerReport report = run(jobFor("hazards", 3, oneBlock, twoWarps, {output("out", 64)}));
    const HazardReport* hazard = hazardOf(report, HazardKind::UninitializedRead);
    ASSERT_THAT(hazard, NotNull());
    EXPECT_TRUE(hazard->certain);
    EXPECT_EQ(hazard->thread, (Dim3{32, 0, 0}));
}

TEST(Hazards, ReportsAVectorAtAnOddAddress) {
    const WorkerReport report =
        run(jobFor("hazards", 4, oneBlock, twoWarps, {input("in", 200), output("out", 64)}));
    const HazardReport* hazard = hazardOf(report, HazardKind::Misaligned);
    ASSERT_THAT(hazard, NotNull());
    EXPECT_THAT(hazard->message, HasSubstr("not a multiple of 8"));
}

TEST(Hazards, ReportsThreadsOfAWarpAtDifferentBarriers) {
    const WorkerReport report =
        run(jobFor("hazards", 5, oneBlock, {32, 1, 1}, {output("out", 64)}));
    const HazardReport* hazard = hazardOf(report, HazardKind::BarrierDivergence);
    ASSERT_THAT(hazard, NotNull());
    EXPECT_NE(hazard->site, hazard->otherSite);
}

TEST(Hazards, ToleratesManyThreadsThatStoreTheSameValue) {
    const WorkerReport report = run(
        jobFor("hazards", 6, oneBlock, twoWarps, {input("in", 64), integers(output("out", 64))}));
    EXPECT_THAT(report.hazards, IsEmpty());
    EXPECT_EQ(valuesOf<int>(report, "out").front(), 1);
}

TEST(Hazards, ReportsWarpsThatStoreDifferentValues) {
    const WorkerReport report =
        run(jobFor("hazards", 7, oneBlock, twoWarps, {integers(output("out", 64))}));
    EXPECT_THAT(hazardOf(report, HazardKind::Race), NotNull());
}

TEST(Hazards, AcceptsDoubleBuffering) {
    const WorkerReport report = run(
        jobFor("hazards", 8, oneBlock, twoWarps, {input("in", 64), output("out", 64), scalar(5)}));
    EXPECT_THAT(report.hazards, IsEmpty());
}

TEST(Hazards, SuspectsBlocksThatStoreDifferentValuesInOnePlace) {
    const WorkerReport report = run(jobFor("hazards", 9, {2, 1, 1}, twoWarps, {output("out", 64)}));
    const HazardReport* race = hazardOf(report, HazardKind::Race);
    ASSERT_THAT(race, NotNull());
    EXPECT_FALSE(race->certain);
    EXPECT_THAT(race->message, HasSubstr("of block (1,0,0) writes"));
    EXPECT_THAT(race->message, HasSubstr("of block (0,0,0) wrote"));
    EXPECT_EQ(race->details.scope, RaceScope::Grid);
    EXPECT_EQ(race->details.object, "out");
    ASSERT_TRUE(race->details.other.has_value());
    EXPECT_EQ(race->details.other->block, (Dim3{0, 0, 0}));
}

TEST(Hazards, AcceptsAWarpThatSyncwarpOrders) {
    const WorkerReport report =
        run(jobFor("hazards", 10, oneBlock, twoWarps, {input("in", 64), output("out", 64)}));
    EXPECT_THAT(report.hazards, IsEmpty());
}

TEST(Hazards, OnlySuspectsAWarpThatCountsOnLockStep) {
    const WorkerReport report =
        run(jobFor("hazards", 11, oneBlock, twoWarps, {input("in", 64), output("out", 64)}));
    ASSERT_THAT(hazardOf(report, HazardKind::Race), NotNull());
    for (const HazardReport& hazard : report.hazards)
        EXPECT_TRUE(hazard.kind != HazardKind::Race || !hazard.certain) << hazard.message;
}

TEST(Hazards, EndsARunThatFollowsANullPointer) {
    const WorkerReport report = run(
        jobFor("hazards", 12, oneBlock, twoWarps, {scalar(std::uint64_t{0}), output("out", 64)}));
    ASSERT_TRUE(report.failure.has_value());
    EXPECT_THAT(report.failure->what, HasSubstr("a null pointer"));
    EXPECT_THAT(report.failure->what, HasSubstr("thread (0,0,0) of block (0,0,0)"));
    EXPECT_NE(report.failure->site, 0u);
}

TEST(Hazards, AcceptsNeighboursInOneWord) {
    BufferSpec out = output("out", 64);
    out.element = analysis::ScalarKind::UInt8;
    out.elementBytes = 1;
    const WorkerReport report = run(jobFor("hazards", 13, oneBlock, twoWarps, {out}));
    EXPECT_THAT(report.hazards, IsEmpty());
}

TEST(Hazards, AcceptsBlocksThatTalkThroughAFence) {
    BufferSpec done = integers(input("done", 1));
    done.fill = Fill::Zero;
    const WorkerReport report =
        run(jobFor("hazards", 14, {8, 1, 1}, twoWarps,
                   {input("in", 8), output("partial", 8), done, output("out", 1)}));
    EXPECT_THAT(hazardOf(report, HazardKind::Race), IsNull());
    EXPECT_THAT(hazardOf(report, HazardKind::UninitializedRead), IsNull());
    EXPECT_FALSE(report.failure.has_value());
}

TEST(Hazards, ExplainsADeadlockByWhoWaitsWhere) {
    const WorkerReport report =
        run(jobFor("hazards", 16, oneBlock, {32, 1, 1}, {output("out", 64)}));
    ASSERT_TRUE(report.failure.has_value());
    EXPECT_THAT(report.failure->what, HasSubstr("deadlock in block (0,0,0)"));
    EXPECT_THAT(report.failure->what, HasSubstr("16 of 32 threads wait at the block's barrier"));
    EXPECT_THAT(report.failure->what, HasSubstr("mask 0xffffffff"));
}

TEST(Hazards, ExplainsADivisionByZero) {
    BufferSpec in = integers(input("in", 64));
    in.fill = Fill::Zero;
    const WorkerReport report =
        run(jobFor("hazards", 17, oneBlock, twoWarps, {in, integers(output("out", 64))}));
    ASSERT_TRUE(report.failure.has_value());
    EXPECT_THAT(report.failure->what, HasSubstr("divided an integer by zero"));
    EXPECT_NE(report.failure->site, 0u);
}

TEST(Hazards, ExplainsAThreadThatOutgrowsItsStack) {
    const WorkerReport report = run(
        jobFor("hazards", 18, oneBlock, {1, 1, 1}, {integers(output("out", 64)), scalar(100000)}));
    ASSERT_TRUE(report.failure.has_value());
    EXPECT_THAT(report.failure->what, HasSubstr("KiB of local memory"));
}

TEST(Hazards, RefusesByNameAndLineWhatItCannotRun) {
    const WorkerReport report =
        run(jobFor("hazards", 19, oneBlock, twoWarps, {integers(output("out", 64))}));
    ASSERT_TRUE(report.failure.has_value());
    EXPECT_EQ(report.failure->kind, ErrorKind::Unsupported);
    EXPECT_EQ(report.failure->what, "the emulator does not run wgmma.mma_async");
    EXPECT_EQ(report.failure->where, "kernel.cu:12");
}

TEST(Hazards, ReportsDynamicSharedMemoryBeyondWhatTheLaunchGives) {
    WorkerJob job = jobFor("hazards", 20, oneBlock, twoWarps, {output("out", 64)});
    job.job.launch.dynamicSharedBytes = 128;
    const WorkerReport report = run(job);
    const HazardReport* hazard = hazardOf(report, HazardKind::OutOfBounds);
    ASSERT_THAT(hazard, NotNull());
    EXPECT_THAT(hazard->message, HasSubstr("128 bytes of dynamic shared memory"));
}

} // namespace
} // namespace kernelskill::engine::emulator
