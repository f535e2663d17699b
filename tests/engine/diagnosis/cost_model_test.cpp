#include "engine/diagnosis/cost_model.h"
#include "engine/execution/metric_names.h"
#include "tests/engine/diagnosis/subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::builtinGpu;
using kernelskill::testing::profileWith;
using kernelskill::testing::Subject;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A copy of 4 MiB by 4096 blocks of 256 threads.
Metrics copy() {
    Metrics metrics;
    for (const metric::AccessNames* access : metric::accesses) {
        metrics[access->globalRequests] = 32768;
        metrics[access->globalSectors] = 131072;
        metrics[access->uniqueBytes] = 4194304;
    }
    metrics[metric::floatingOperations] = 0;
    metrics[metric::activeThreads] = 32;
    return metrics;
}

CostEstimate costWith(Metrics metrics, const StaticFacts* facts = nullptr, Dim3 grid = {4096}) {
    const Subject subject;
    Profile profile = profileWith(std::move(metrics));
    profile.launch.grid = grid;
    const auto cost =
        costOf({subject.kernel, subject.features, profile, builtinGpu("H200"), facts});
    EXPECT_TRUE(cost);
    return cost.value_or(CostEstimate{});
}

Interval part(const CostEstimate& cost, std::string_view name) {
    const auto found = std::ranges::find(cost.parts, name, &CostPart::name);
    EXPECT_NE(found, cost.parts.end());
    return found == cost.parts.end() ? Interval{} : found->seconds;
}

TEST(CostModel, OfACopyLiesBetweenItsRooflineAndItsPartsInTurn) {
    const CostEstimate cost = costWith(copy());
    const Gpu& gpu = builtinGpu("H200");
    EXPECT_DOUBLE_EQ(cost.minSeconds, 8388608 / gpu.memoryBytesPerSecond);
    EXPECT_DOUBLE_EQ(cost.seconds.low, cost.minSeconds);
    // 64 warps on each of 132 multiprocessors share 32768 loads of 480 cycles.
    const double waits = 32768.0 * 480 / (64 * 132) / gpu.boostHertz;
    EXPECT_DOUBLE_EQ(part(cost, "latency").high, waits);
    EXPECT_DOUBLE_EQ(cost.seconds.high, part(cost, "memory").high + waits);
    EXPECT_FALSE(isAtRoofline(cost));
    EXPECT_THAT(describe(cost),
                AllOf(StartsWith("at least "),
                      HasSubstr(" on an H200 (roofline of the counts, not measured); the model "
                                "weighs "),
                      HasSubstr("latency "), HasSubstr("memory ")));
}

TEST(CostModel, FewerRequestsForTheSameBytesAreAnImprovement) {
    const CostEstimate before = costWith(copy());
    Metrics vectors = copy();
    vectors[metric::load.globalRequests] /= 4;
    const CostEstimate after = costWith(vectors);
    EXPECT_TRUE(isImprovement(before, after));
    EXPECT_FALSE(isImprovement(after, before));
    EXPECT_FALSE(isImprovement(before, before));
    EXPECT_GT(modelledGain(before, after), 1);
    EXPECT_DOUBLE_EQ(modelledGain(before, before), 1);
}

TEST(CostModel, WhatGainsAtOneEndAndLosesAtTheOtherIsNoImprovement) {
    CostEstimate before;
    before.seconds = {1, 10};
    CostEstimate after;
    after.seconds = {1.1, 5};
    EXPECT_FALSE(isImprovement(before, after));
    EXPECT_FALSE(isImprovement(after, before));
    after.seconds = {0.99, 9.9};
    EXPECT_FALSE(isImprovement(before, after)) << "too little to tell";
    after.seconds = {1, 9.7};
    EXPECT_TRUE(isImprovement(before, after));
}

TEST(CostModel, ConflictsTakeOneClockOfTheirMultiprocessorEach) {
    Metrics conflicts = copy();
    conflicts[metric::load.sharedWavefronts] = 132e6;
    const CostEstimate cost = costWith(conflicts);
    const double expected = 1e6 / builtinGpu("H200").boostHertz;
    EXPECT_DOUBLE_EQ(part(cost, "shared memory").low, expected);
    EXPECT_DOUBLE_EQ(cost.seconds.low, expected) << "longer than memory";
    const CostEstimate oneBlock = costWith(conflicts, nullptr, {1});
    EXPECT_DOUBLE_EQ(part(oneBlock, "shared memory").low, 132 * expected);
}

TEST(CostModel, RegistersThatLetFewerWarpsInMakeWaitsLonger) {
    StaticFacts facts;
    facts.registers = 128; // 16 warps of 64
    const CostEstimate few = costWith(copy(), &facts);
    const CostEstimate many = costWith(copy());
    EXPECT_DOUBLE_EQ(part(few, "latency").high, 4 * part(many, "latency").high);
    EXPECT_FALSE(isImprovement(many, few));
}

TEST(CostModel, SaysNothingWithoutCountsOrOfABlockThatFitsNowhere) {
    const Subject subject;
    const Gpu& gpu = builtinGpu("H200");
    EXPECT_FALSE(costOf({subject.kernel, subject.features, profileWith({}), gpu}));
    Profile large = profileWith(copy());
    large.launch.block = {2048, 1, 1};
    EXPECT_FALSE(costOf({subject.kernel, subject.features, large, gpu}));
}

TEST(CostModel, IsAtTheRooflineWhereOneResourceIsAllThereIs) {
    Metrics stream = copy();
    for (const metric::AccessNames* access : metric::accesses) {
        stream[access->globalSectors] *= 100;
        stream[access->uniqueBytes] *= 100;
    }
    EXPECT_TRUE(isAtRoofline(costWith(stream)));
    CostEstimate tiny;
    tiny.seconds = {1e-9, 1e-9};
    tiny.minSeconds = 1e-9;
    EXPECT_FALSE(isAtRoofline(tiny)) << "its launch takes longer";
}

} // namespace
} // namespace kernelskill::engine
