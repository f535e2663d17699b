#include "engine/diagnosis/roofline.h"
#include "engine/execution/metric_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Gpu gpu() {
    Gpu result;
    result.name = "G";
    result.multiprocessors = 100;
    result.singleFlops = 10e12;
    result.doubleFlops = 1e12;
    result.memoryBytesPerSecond = 1e12;
    result.cacheBytes = 1e6;
    return result;
}

RooflineCounts counts(double unique, double moved, std::optional<OperationCounts> operations) {
    RooflineCounts result;
    result.uniqueBytes = unique;
    result.movedBytes = moved;
    result.operations = operations;
    result.blocks = 1000;
    return result;
}

TEST(Roofline, OfACopyIsBetweenPeakAndAttainableBandwidth) {
    const auto roofline = rooflineOf(counts(8e9, 8e9, OperationCounts{}), gpu());
    EXPECT_DOUBLE_EQ(roofline.seconds.low, 8e-3);
    EXPECT_DOUBLE_EQ(roofline.seconds.high, 10e-3);
    EXPECT_EQ(roofline.position, RooflinePosition::MemoryBound);
    EXPECT_DOUBLE_EQ(roofline.ridge.operationsPerByte, 10);
    EXPECT_FALSE(roofline.fitsInCache);
}

TEST(Roofline, SpansFromDistinctToMovedBytes) {
    const auto roofline = rooflineOf(counts(1e9, 8e9, OperationCounts{.single = 1e9}), gpu());
    EXPECT_DOUBLE_EQ(roofline.seconds.low, 1e-3);
    EXPECT_DOUBLE_EQ(roofline.seconds.high, 10e-3 + 2e-4); // nothing fused, nothing overlapped
    ASSERT_TRUE(roofline.intensity);
    EXPECT_DOUBLE_EQ(roofline.intensity->low, 0.125);
    EXPECT_DOUBLE_EQ(roofline.intensity->high, 1);
    EXPECT_EQ(roofline.position, RooflinePosition::MemoryBound);
}

TEST(Roofline, SaysWhereTheCachesDecide) {
    // 2 to 200 operations a byte, ridge at 10.
    const auto naive = rooflineOf(counts(1e7, 1e9, OperationCounts{.single = 2e9}), gpu());
    EXPECT_EQ(naive.position, RooflinePosition::Between);
    EXPECT_DOUBLE_EQ(naive.seconds.low, 2e-4);
    const auto tiled = rooflineOf(counts(1e7, 1e8, OperationCounts{.single = 2e9}), gpu());
    EXPECT_EQ(tiled.position, RooflinePosition::ComputeBound);
}

TEST(Roofline, TakesKnownCeilingsForTheBalanceAndTheUpperEnd) {
    Gpu measured = gpu();
    measured.measured = KnownCeilings{0.9e12, 7.2e12};
    const auto roofline = rooflineOf(counts(9e8, 9e8, OperationCounts{.single = 1e9}), measured);
    EXPECT_DOUBLE_EQ(roofline.ridge.operationsPerByte, 8);
    EXPECT_TRUE(roofline.ridge.isMeasured);
    EXPECT_DOUBLE_EQ(roofline.seconds.low, 9e-4); // At the peak: nothing is faster.
    EXPECT_DOUBLE_EQ(roofline.seconds.high, 1e-3 + 2e-4);
    EXPECT_THAT(describe(roofline), HasSubstr("balance 8 (measured)"));
}

TEST(Roofline, KnowsThatAFusedMultiplyAddIsOneInstruction) {
    const auto roofline =
        rooflineOf(counts(1, 1, OperationCounts{.single = 3e9, .singleFused = 2e9}), gpu());
    EXPECT_NEAR(roofline.seconds.low, 3e-4, 1e-9);
    EXPECT_NEAR(roofline.seconds.high, 4e-4, 1e-9);
}

TEST(Roofline, TakesTheDoublePeakForDoubles) {
    const auto roofline = rooflineOf(counts(1e9, 1e9, OperationCounts{.dbl = 5e9}), gpu());
    EXPECT_DOUBLE_EQ(roofline.seconds.low, 5e-3);
    EXPECT_DOUBLE_EQ(roofline.ridge.operationsPerByte, 1);
    EXPECT_EQ(roofline.position, RooflinePosition::ComputeBound);
}

TEST(Roofline, LeavesRoomForWhatIsNotTold) {
    const auto roofline = rooflineOf(
        counts(1, 1, OperationCounts{.unknown = 4e9, .mayBeDouble = true, .mayBeHalf = true}),
        gpu());
    EXPECT_NEAR(roofline.seconds.low, 1e-4, 1e-9);  // four times the single peak
    EXPECT_NEAR(roofline.seconds.high, 8e-3, 1e-9); // half the double peak
    EXPECT_TRUE(roofline.operationsAreStatic);
}

TEST(Roofline, AFewBlocksHaveAFewMultiprocessors) {
    auto few = counts(1, 1, OperationCounts{.single = 1e9});
    few.blocks = 10;
    EXPECT_NEAR(rooflineOf(few, gpu()).seconds.low, 1e-3, 1e-9);
}

TEST(Roofline, NeverTurnsTheIntervalRound) {
    for (const double moved : {1e6, 1e9}) {
        for (const double operations : {0.0, 1e6, 1e12}) {
            for (const bool known : {true, false}) {
                OperationCounts executed;
                (known ? executed.single : executed.unknown) = operations;
                const auto roofline = rooflineOf(counts(1e6, moved, executed), gpu());
                EXPECT_LE(roofline.seconds.low, roofline.seconds.high);
                EXPECT_LE(roofline.intensity->low, roofline.intensity->high);
            }
        }
    }
}

TEST(RooflineText, IsLabelledAndHasNoSingleTime) {
    auto scaled = counts(1e5, 8e5, OperationCounts{.unknown = 1e5});
    scaled.isScaled = true;
    const auto text = describe(rooflineOf(scaled, gpu()));
    EXPECT_THAT(text,
                StartsWith("at least 100 ns on a G (roofline of the counts, not measured); "));
    EXPECT_THAT(text, HasSubstr("0.125 to 1 FLOP per byte (operations from the source), "
                                "balance 10 (of the datasheet's peaks): memory-bound"));
    EXPECT_THAT(text, HasSubstr("fits into L2"));
    EXPECT_THAT(text, HasSubstr("a part of the blocks"));
    const auto even =
        describe(rooflineOf(counts(8e5, 8e5, OperationCounts{.unknown = 1e5}), gpu()));
    EXPECT_THAT(even, HasSubstr("; 0.125 FLOP per byte"));
    const auto silent = describe(rooflineOf(counts(1e9, 1e9, std::nullopt), gpu()));
    EXPECT_THAT(silent, HasSubstr("at least 1 ms on a G (roofline of the counts, not measured); "
                                  "operations were not counted"));
    EXPECT_THAT(silent, Not(HasSubstr("L2")));
}

TEST(RooflineCountsOfAProfile, AreItsBytesAndOperations) {
    Profile profile;
    profile.launch.grid = {64, 1, 1};
    profile.blocksRun = 32;
    profile.metrics = {{metric::load.uniqueBytes, 1000},  {metric::store.uniqueBytes, 24},
                       {metric::load.globalSectors, 100}, {metric::store.globalSectors, 20},
                       {metric::globalAtomicSectors, 8},  {metric::load.globalBytes, 2000},
                       {metric::store.globalBytes, 500}};
    analysis::KernelModel kernel;
    analysis::Features features;
    auto found = rooflineCounts(kernel, features, profile);
    ASSERT_TRUE(found);
    EXPECT_DOUBLE_EQ(found->uniqueBytes, 1024);
    EXPECT_DOUBLE_EQ(found->movedBytes, 128 * 32);
    EXPECT_FALSE(found->operations);
    EXPECT_TRUE(found->isScaled);
    EXPECT_EQ(found->blocks, 64U);

    features.arithmeticIntensity = 0.5;
    found = rooflineCounts(kernel, features, profile);
    ASSERT_TRUE(found && found->operations);
    EXPECT_DOUBLE_EQ(found->operations->unknown, 1250);

    profile.metrics["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] = 300;
    profile.metrics["smsp__sass_thread_inst_executed_op_dadd_pred_on.sum"] = 7;
    found = rooflineCounts(kernel, features, profile);
    ASSERT_TRUE(found && found->operations);
    EXPECT_DOUBLE_EQ(found->operations->single, 600);
    EXPECT_DOUBLE_EQ(found->operations->singleFused, 600);
    EXPECT_DOUBLE_EQ(found->operations->dbl, 7);
    EXPECT_DOUBLE_EQ(found->operations->unknown, 0);

    // A fused instruction of a pair of halves is four operations.
    profile.metrics[metric::half.fused] = 10;
    profile.metrics[metric::halfOperations] = 40;
    profile.metrics[metric::uncountedCalls] = 3;
    found = rooflineCounts(kernel, features, profile);
    ASSERT_TRUE(found && found->operations);
    EXPECT_DOUBLE_EQ(found->operations->half, 40);
    EXPECT_TRUE(found->operations->isIncomplete);

    profile.metrics.clear();
    EXPECT_FALSE(rooflineCounts(kernel, features, profile));
}

} // namespace
} // namespace kernelskill::engine
