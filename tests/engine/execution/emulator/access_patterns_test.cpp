#include "tests/engine/execution/emulator/test_worker.h"

#include <gtest/gtest.h>

namespace kernelskill::engine::emulator {
namespace {

constexpr Dim3 oneBlock{1, 1, 1};
constexpr Dim3 oneWarp{32, 1, 1};

Counters totals(int kernel, Dim3 grid, Dim3 block, std::vector<ArgumentSpec> arguments) {
    const WorkerReport report =
        run(jobFor("access_patterns", kernel, grid, block, std::move(arguments)));
    EXPECT_FALSE(report.failure.has_value()) << report.failure->what;
    EXPECT_TRUE(report.hazards.empty()) << report.hazards.front().message;
    return report.totals;
}

BufferSpec vectors(BufferSpec spec) {
    spec.elementBytes = 16;
    return spec;
}

TEST(AccessPatterns, ACoalescedFloatReadTakesFourSectors) {
    const Counters counters =
        totals(0, {8, 1, 1}, {128, 1, 1}, {input("in", 1024), output("out", 1024)});
    EXPECT_EQ(counters[Counter::GlobalLoadRequests], 32u);
    EXPECT_EQ(counters[Counter::GlobalLoadSectors], 128u);
    EXPECT_EQ(counters[Counter::GlobalLoadBytes], 4096u);
    EXPECT_EQ(counters[Counter::GlobalStoreRequests], 32u);
    EXPECT_EQ(counters[Counter::GlobalStoreSectors], 128u);
    EXPECT_EQ(counters[Counter::UniqueBytesLoaded], 4096u);
    EXPECT_EQ(counters[Counter::UniqueBytesStored], 4096u);
}

TEST(AccessPatterns, AColumnOfFloatsTakesASectorALane) {
    const Counters counters =
        totals(1, oneBlock, oneWarp, {input("in", 32 * 64), output("out", 32), scalar(64)});
    EXPECT_EQ(counters[Counter::GlobalLoadRequests], 1u);
    EXPECT_EQ(counters[Counter::GlobalLoadSectors], 32u);
}

TEST(AccessPatterns, ACoalescedFloat4ReadIsOneRequestOfSixteenSectors) {
    const Counters counters =
        totals(2, oneBlock, oneWarp, {vectors(input("in", 32)), vectors(output("out", 32))});
    EXPECT_EQ(counters[Counter::GlobalLoadRequests], 1u);
    EXPECT_EQ(counters[Counter::GlobalLoadSectors], 16u);
    EXPECT_EQ(counters[Counter::GlobalStoreRequests], 1u);
    EXPECT_EQ(counters[Counter::GlobalStoreSectors], 16u);
}

TEST(AccessPatterns, AColumnOfASquareTileConflictsThirtyOneTimes) {
    const Counters counters =
        totals(3, {2, 2, 1}, {32, 32, 1}, {input("in", 4096), output("out", 4096), scalar(64)});
    EXPECT_EQ(counters[Counter::SharedLoadRequests], 128u);
    EXPECT_EQ(counters[Counter::SharedLoadConflicts], 128u * 31);
    EXPECT_EQ(counters[Counter::SharedLoadWavefronts], 128u * 32);
    EXPECT_EQ(counters[Counter::SharedStoreConflicts], 0u);
    EXPECT_EQ(counters[Counter::Barriers], 4u);
}

TEST(AccessPatterns, APaddedTileDoesNotConflict) {
    const Counters counters =
        totals(4, {2, 2, 1}, {32, 32, 1}, {input("in", 4096), output("out", 4096), scalar(64)});
    EXPECT_EQ(counters[Counter::SharedLoadRequests], 128u);
    EXPECT_EQ(counters[Counter::SharedLoadConflicts], 0u);
    EXPECT_EQ(counters[Counter::GlobalStoreSectors], 512u);
}

TEST(AccessPatterns, ABranchOnTheLaneDivergesAndHalvesTheActiveThreads) {
    const Counters counters =
        totals(5, oneBlock, {64, 1, 1}, {input("in", 128), output("out", 64)});
    EXPECT_EQ(counters[Counter::GlobalLoadRequests], 4u); // Two sides of two warps.
    EXPECT_GE(counters[Counter::BranchTargetsDivergent], 4u);
    EXPECT_LT(counters[Counter::ThreadEvents], counters[Counter::WarpEvents] * 24);
}

TEST(AccessPatterns, AUniformLoopStaysTogetherHoweverLongItIs) {
    const Counters counters =
        totals(6, oneBlock, {64, 1, 1}, {input("in", 64 * 5000), output("out", 64), scalar(5000)});
    EXPECT_EQ(counters[Counter::GlobalLoadRequests], 10000u);
    EXPECT_EQ(counters[Counter::GlobalLoadSectors], 40000u);
    EXPECT_EQ(counters[Counter::BranchTargetsDivergent], 0u);
    EXPECT_EQ(counters[Counter::ThreadEvents], counters[Counter::WarpEvents] * 32);
}

TEST(AccessPatterns, LoopsOfUnevenLengthMeetAgainAfterwards) {
    const Counters counters =
        totals(9, oneBlock, oneWarp, {input("in", 31 * 40), output("out", 32), scalar(40)});
    // The longest lane makes the rounds, the others wait.
    EXPECT_EQ(counters[Counter::GlobalLoadRequests], 31u * 40);
    EXPECT_EQ(counters[Counter::GlobalStoreRequests], 1u);
    EXPECT_GT(counters[Counter::BranchTargetsDivergent], 0u);
}

TEST(AccessPatterns, AtomicsOnOneAddressAreSerialised) {
    BufferSpec bins = output("bins", 4);
    bins.element = analysis::ScalarKind::Int32;
    const Counters counters = totals(7, oneBlock, oneWarp, {bins});
    EXPECT_EQ(counters[Counter::GlobalAtomicRequests], 1u);
    EXPECT_EQ(counters[Counter::AtomicLanes], 32u);
    EXPECT_EQ(counters[Counter::AtomicSerializations], 8u);
}

TEST(AccessPatterns, SharedFloat4RunsInFourPhasesWithoutConflict) {
    const Counters counters = totals(8, oneBlock, oneWarp, {vectors(output("out", 32))});
    EXPECT_EQ(counters[Counter::SharedLoadRequests], 1u);
    EXPECT_EQ(counters[Counter::SharedLoadWavefronts], 4u);
    EXPECT_EQ(counters[Counter::SharedLoadConflicts], 0u);
}

} // namespace
} // namespace kernelskill::engine::emulator
