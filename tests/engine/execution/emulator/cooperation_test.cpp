#include "tests/engine/execution/emulator/test_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace kernelskill::engine::emulator {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

BufferSpec iota(const std::string& name, std::uint64_t elements) {
    BufferSpec spec = input(name, elements);
    spec.fill = Fill::Iota;
    return spec;
}

BufferSpec integers(BufferSpec spec) {
    spec.element = analysis::ScalarKind::Int32;
    return spec;
}

BufferSpec zeros(BufferSpec spec) {
    spec.isInput = true;
    spec.fill = Fill::Zero;
    return spec;
}

void expectSound(const WorkerReport& report) {
    EXPECT_FALSE(report.failure.has_value()) << (report.failure ? report.failure->what : "");
    EXPECT_TRUE(report.hazards.empty()) << report.hazards.front().message;
}

TEST(Cooperation, SumsABlockThroughSharedMemoryAndBarriers) {
    const WorkerReport report = run(jobFor("cooperation", 0, {4, 1, 1}, {256, 1, 1},
                                           {iota("in", 1000), output("out", 4), scalar(1000)}));
    expectSound(report);
    EXPECT_THAT(valuesOf<float>(report, "out"), ElementsAre(32640, 98176, 163712, 204972));
}

TEST(Cooperation, SumsWarpsByShuffles) {
    const WorkerReport report =
        run(jobFor("cooperation", 1, {2, 1, 1}, {64, 1, 1}, {iota("in", 128), output("out", 4)}));
    expectSound(report);
    EXPECT_THAT(valuesOf<float>(report, "out"), ElementsAre(496, 1520, 2544, 3568));
}

TEST(Cooperation, RunsTilesOfAWarpApartFromEachOther) {
    const WorkerReport report =
        run(jobFor("cooperation", 2, {1, 1, 1}, {32, 1, 1}, {iota("in", 32), output("out", 4)}));
    expectSound(report);
    EXPECT_THAT(valuesOf<float>(report, "out"), ElementsAre(28, 92, 156, 220));
}

TEST(Cooperation, CountsVotesOfWarpsAndBlocks) {
    const WorkerReport report =
        run(jobFor("cooperation", 3, {1, 1, 1}, {64, 1, 1}, {integers(output("out", 256))}));
    expectSound(report);
    const auto out = valuesOf<std::uint32_t>(report, "out");
    ASSERT_EQ(out.size(), 256u);
    EXPECT_EQ(out[0], 22u);
    EXPECT_EQ(out[64], 0xaaaaaaaau);
    EXPECT_EQ(out[128], 3u);      // A lane of the first warp is 5, and all are below 32.
    EXPECT_EQ(out[128 + 32], 0u); // Neither in the second.
    EXPECT_EQ(out[192], 3u);
}

TEST(Cooperation, GivesTheLanesInABranchAsTheActiveOnes) {
    const WorkerReport report =
        run(jobFor("cooperation", 4, {1, 1, 1}, {32, 1, 1}, {integers(output("out", 64))}));
    expectSound(report);
    const auto out = valuesOf<std::int32_t>(report, "out");
    ASSERT_EQ(out.size(), 64u);
    EXPECT_EQ(out[4], 8);
    EXPECT_EQ(out[32 + 4], 112);
    EXPECT_EQ(out[5], -1);
}

TEST(Cooperation, GivesABlockItsDynamicSharedMemory) {
    WorkerJob job =
        jobFor("cooperation", 5, {1, 1, 1}, {64, 1, 1}, {output("out", 64), scalar(64)});
    job.job.launch.dynamicSharedBytes = 256;
    const WorkerReport report = run(job);
    expectSound(report);
    EXPECT_EQ(valuesOf<float>(report, "out").front(), 63);
}

TEST(Cooperation, MovesLanesTogetherAtVolatileSharedMemory) {
    const WorkerReport report =
        run(jobFor("cooperation", 6, {1, 1, 1}, {32, 1, 1}, {iota("in", 64), output("out", 1)}));
    expectSound(report);
    EXPECT_THAT(valuesOf<float>(report, "out"), ElementsAre(2016));
}

TEST(Cooperation, AddsAtomically) {
    const WorkerReport report = run(
        jobFor("cooperation", 7, {4, 1, 1}, {256, 1, 1},
               {integers(iota("keys", 1000)), zeros(integers(output("bins", 16))), scalar(1000)}));
    expectSound(report);
    const auto bins = valuesOf<std::int32_t>(report, "bins");
    EXPECT_EQ(std::accumulate(bins.begin(), bins.end(), 0), 1000);
    EXPECT_EQ(bins.front(), 63);
}

TEST(Cooperation, KeepsBlocksAliveAcrossTheGridBarrier) {
    const WorkerReport report = run(jobFor("cooperation", 8, {4, 1, 1}, {64, 1, 1},
                                           {output("data", 256), output("out", 256), scalar(256)}));
    expectSound(report);
    const auto out = valuesOf<float>(report, "out");
    ASSERT_EQ(out.size(), 256u);
    EXPECT_EQ(out[0], 255);
    EXPECT_EQ(out[255], 3000); // Each block kept its own shared memory.
}

TEST(Cooperation, RefusesAGridBarrierAmongMoreThreadsThanItCanKeepAlive) {
    const WorkerReport report =
        run(jobFor("cooperation", 8, {1024, 1, 1}, {64, 1, 1},
                   {output("data", 65536), output("out", 65536), scalar(65536)}));
    ASSERT_TRUE(report.failure.has_value());
    EXPECT_EQ(report.failure->kind, ErrorKind::Unsupported);
    EXPECT_THAT(report.failure->what, HasSubstr("grid barrier among 65536 threads"));
    EXPECT_NE(report.failure->site, 0u);
}

TEST(Cooperation, LetsABarrierPassWhenTheOthersHaveExited) {
    const WorkerReport report = run(jobFor("cooperation", 9, {1, 1, 1}, {64, 1, 1},
                                           {iota("in", 40), output("out", 40), scalar(40)}));
    expectSound(report);
    EXPECT_EQ(valuesOf<float>(report, "out").front(), 39);
}

TEST(Cooperation, NumbersBlocksAndThreadsInThreeDimensions) {
    const WorkerReport report =
        run(jobFor("cooperation", 10, {2, 3, 2}, {4, 2, 3}, {integers(output("out", 288))}));
    expectSound(report);
    const auto out = valuesOf<std::int32_t>(report, "out");
    ASSERT_EQ(out.size(), 288u);
    for (int i = 0; i < 288; ++i)
        EXPECT_EQ(out[static_cast<std::size_t>(i)], i / 24 * 1000 + i % 24);
}

TEST(Cooperation, StartsEachRunWithFreshDeviceVariables) {
    const WorkerJob job =
        jobFor("cooperation", 11, {3, 1, 1}, {32, 1, 1}, {integers(output("out", 3))});
    for (int round = 0; round < 2; ++round) {
        const WorkerReport report = run(job);
        expectSound(report);
        EXPECT_THAT(valuesOf<std::int32_t>(report, "out"), ElementsAre(0, 1, 2));
        EXPECT_EQ(report.printed, "block 0 of 3\n");
    }
}

TEST(Cooperation, LetsThreadsTakeTurnsAtALock) {
    const WorkerReport report =
        run(jobFor("cooperation", 12, {2, 1, 1}, {64, 1, 1},
                   {zeros(integers(output("lock", 1))), zeros(integers(output("total", 1)))}));
    expectSound(report);
    EXPECT_THAT(valuesOf<std::int32_t>(report, "total"), ElementsAre(128));
}

TEST(Cooperation, FindsTheExtentOfEachPointer) {
    WorkerJob job =
        jobFor("cooperation", 0, {4, 1, 1}, {256, 1, 1},
               {unknownExtent(input("in", 0)), unknownExtent(output("out", 0)), scalar(1000)});
    const WorkerReport report = run(job);
    expectSound(report);
    ASSERT_EQ(report.extents.size(), 2u);
    EXPECT_EQ(report.extents[0].elements, 1000u);
    EXPECT_TRUE(report.extents[0].read);
    EXPECT_FALSE(report.extents[0].written);
    EXPECT_EQ(report.extents[1].elements, 4u);
    EXPECT_TRUE(report.extents[1].written);

    // The same values as with the extents given: a candidate is compared on them.
    const WorkerReport pinned = run(jobFor("cooperation", 0, {4, 1, 1}, {256, 1, 1},
                                           {input("in", 1000), output("out", 4), scalar(1000)}));
    EXPECT_EQ(valuesOf<float>(report, "out"), valuesOf<float>(pinned, "out"));
}

TEST(Cooperation, RunsTheCornersOfASampledGridAndScalesTheSums) {
    WorkerJob job = jobFor("cooperation", 0, {1000, 1, 1}, {256, 1, 1},
                           {input("in", 256000), output("out", 1000), scalar(256000)});
    job.job.maxBlocks = 10;
    const WorkerReport report = run(job);
    expectSound(report);
    EXPECT_EQ(report.blocksRun, 10u);
    EXPECT_EQ(report.totals[Counter::GlobalStoreRequests], 1000u);
    EXPECT_THAT(report.notes, testing::Contains(HasSubstr("10 of 1000 blocks")));
}

TEST(Cooperation, RefusesABlockThatCudaWouldRefuse) {
    const WorkerReport report =
        run(jobFor("cooperation", 10, {1, 1, 1}, {2048, 1, 1}, {integers(output("out", 2048))}));
    ASSERT_TRUE(report.failure.has_value());
    EXPECT_EQ(report.failure->kind, ErrorKind::InvalidInput);
}

} // namespace
} // namespace kernelskill::engine::emulator
