#include "engine/diagnosis/bottleneck.h"
#include "engine/execution/metric_names.h"
#include "tests/engine/diagnosis/subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::profileWith;
using kernelskill::testing::Subject;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

analysis::AccessFeatures accessOf(std::optional<double> sectors,
                                  std::optional<double> degree = {}) {
    analysis::AccessFeatures access;
    access.access = 0;
    access.sectorsPerRequest = sectors;
    access.bankConflictDegree = degree;
    access.explanation = "x steps by 32 elements";
    return access;
}

Metrics globalLoads(double requests, double sectors, double bytes) {
    return {{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", requests},
            {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", sectors},
            {metric::load.globalBytes, bytes},
            {"kernelskill__global_unique_bytes_ld.sum", bytes}};
}

/// Everything a sentence says, for a message when a place-holder was left open.
void expectNoOpenPlaceholder(const Bottleneck& bottleneck) {
    for (const Evidence& evidence : bottleneck.evidence)
        EXPECT_THAT(evidence.text, Not(HasSubstr("{"))) << bottleneck.rule;
}

TEST(Diagnosis, AKernelWithoutASignatureIsBalanced) {
    Bottleneck bottleneck = Subject().diagnosed();
    EXPECT_EQ(bottleneck.kind, BottleneckKind::Balanced);
    EXPECT_EQ(bottleneck.headroom, "");
    ASSERT_EQ(bottleneck.evidence.size(), 1u);
    EXPECT_THAT(bottleneck.evidence[0].text, HasSubstr("nothing in the text points"));
    EXPECT_FALSE(bottleneck.rule.empty());
}

TEST(Diagnosis, AStrideInTheTextIsUncoalescedWithTheLineAndTheNumbers) {
    Subject subject;
    subject.features.accesses.push_back(accessOf(32));
    Bottleneck bottleneck = subject.diagnosed();
    EXPECT_EQ(bottleneck.kind, BottleneckKind::UncoalescedAccess);
    EXPECT_EQ(bottleneck.headroom, "high");
    ASSERT_EQ(bottleneck.evidence.size(), 1u);
    EXPECT_EQ(bottleneck.evidence[0].line, 2u);
    EXPECT_EQ(bottleneck.evidence[0].text,
              "x steps by 32 elements, 8 times the minimum of 4 (threshold 1.50)");
}

TEST(Diagnosis, EqualAccessesOfALineAreSaidOnceAndCounted) {
    Subject subject;
    subject.features.accesses.assign(2, accessOf(32)); // as in `x[i] += 1`
    Bottleneck twice = subject.diagnosed();
    ASSERT_EQ(twice.evidence.size(), 1u);
    EXPECT_EQ(twice.evidence[0].text, "x steps by 32 elements, 8 times the minimum of 4 (threshold "
                                      "1.50); 2 alike on this line");
    subject.features.accesses[1].explanation = "y steps by 32 elements";
    EXPECT_EQ(subject.diagnosed().evidence.size(), 2u);
}

TEST(Diagnosis, ManyEqualAccessesLeaveRoomForOtherEvidence) {
    Subject subject;
    subject.features.accesses.assign(9, accessOf(32));
    subject.features.accesses.push_back(accessOf(16));
    subject.features.accesses.back().explanation = "y steps by 4 elements";
    Bottleneck bottleneck = subject.diagnosed();
    ASSERT_EQ(bottleneck.evidence.size(), 2u);
    EXPECT_THAT(bottleneck.evidence[0].text, HasSubstr("9 alike"));
    EXPECT_THAT(bottleneck.evidence[1].text, HasSubstr("y steps by 4 elements"));
}

TEST(Diagnosis, UnitStrideIsNotUncoalesced) {
    Subject subject;
    subject.features.accesses.push_back(accessOf(4));
    EXPECT_EQ(subject.diagnosed().kind, BottleneckKind::Balanced);
}

TEST(Diagnosis, WideElementsNeedMoreSectorsWithoutBeingUncoalesced) {
    Subject subject;
    subject.kernel.accesses[0].width = 16;
    subject.features.accesses.push_back(accessOf(16));
    EXPECT_EQ(subject.diagnosed().kind, BottleneckKind::Balanced);
}

TEST(Diagnosis, CountedSectorsAreEvidenceByLine) {
    Profile profile = profileWith(globalLoads(100, 3200, 12800));
    Bottleneck bottleneck = Subject().diagnosed(&profile);
    EXPECT_EQ(bottleneck.kind, BottleneckKind::UncoalescedAccess);
    ASSERT_FALSE(bottleneck.evidence.empty());
    EXPECT_EQ(bottleneck.evidence[0].line, 2u);
    EXPECT_THAT(bottleneck.evidence[0].text, HasSubstr("32 sectors per request, 8 times"));
    expectNoOpenPlaceholder(bottleneck);
}

TEST(Diagnosis, ACountOverrulesAnEstimateOfTheSameKind) {
    Subject subject;
    subject.features.accesses.push_back(accessOf(32));
    Profile profile = profileWith(globalLoads(100, 400, 12800));
    EXPECT_NE(subject.diagnosed(&profile).kind, BottleneckKind::UncoalescedAccess);
}

TEST(Diagnosis, AFewStridedAccessesAmongManyAreNoBottleneck) {
    Profile profile = profileWith(globalLoads(10, 320, 1280));
    profile.metrics = globalLoads(100000, 400000, 12800000);
    EXPECT_NE(Subject().diagnosed(&profile).kind, BottleneckKind::UncoalescedAccess);
}

TEST(Diagnosis, ConflictingWavefrontsAreBankConflicts) {
    Metrics metrics{{metric::load.sharedRequests, 100},
                    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 3200},
                    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 3100}};
    Profile profile = profileWith(metrics);
    Bottleneck bottleneck = Subject().diagnosed(&profile);
    EXPECT_EQ(bottleneck.kind, BottleneckKind::BankConflicts);
    ASSERT_FALSE(bottleneck.evidence.empty());
    EXPECT_THAT(bottleneck.evidence[0].text, HasSubstr("3200 for 100 requests, 32 times"));
    expectNoOpenPlaceholder(bottleneck);

    metrics["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] = 0;
    profile = profileWith(metrics);
    EXPECT_NE(Subject().diagnosed(&profile).kind, BottleneckKind::BankConflicts);
}

TEST(Diagnosis, DivergentBranchesNameTheWorstLine) {
    Profile profile = profileWith({{"smsp__sass_average_branch_targets_threads_uniform.pct", 60}});
    profile.lines.push_back(
        {"a.cu", 9, {{"smsp__sass_average_branch_targets_threads_uniform.pct", 50}}});
    Bottleneck bottleneck = Subject().diagnosed(&profile);
    EXPECT_EQ(bottleneck.kind, BottleneckKind::Divergence);
    ASSERT_EQ(bottleneck.evidence.size(), 1u);
    EXPECT_EQ(bottleneck.evidence[0].line, 9u);
    EXPECT_THAT(bottleneck.evidence[0].text, HasSubstr("40 %"));
}

TEST(Diagnosis, ABarrierEveryFewAccessesOfALoopIsSynchronization) {
    Subject subject;
    analysis::Loop loop;
    loop.hasBarrier = true;
    loop.statement = 0;
    subject.kernel.body.stmts.push_back({});
    subject.kernel.loops.push_back(loop);
    Metrics metrics{{"kernelskill__barriers.sum", 10}, {metric::load.sharedRequests, 160}};
    Profile profile = profileWith(metrics);
    Bottleneck bottleneck = subject.diagnosed(&profile);
    EXPECT_EQ(bottleneck.kind, BottleneckKind::Synchronization);
    ASSERT_FALSE(bottleneck.evidence.empty());
    EXPECT_THAT(bottleneck.evidence[0].text, HasSubstr("2 memory requests of a warp per barrier"));

    profile.metrics[metric::load.sharedRequests] = 16000;
    EXPECT_NE(subject.diagnosed(&profile).kind, BottleneckKind::Synchronization);
}

TEST(Diagnosis, ContendedAtomicsAreSynchronization) {
    Profile profile =
        profileWith({{metric::globalAtomicRequests, 10}, {metric::atomicSerializations, 320}});
    EXPECT_EQ(Subject().diagnosed(&profile).kind, BottleneckKind::Synchronization);
    profile = profileWith({{metric::globalAtomicRequests, 10}, {metric::atomicSerializations, 10}});
    EXPECT_EQ(Subject().diagnosed(&profile).kind, BottleneckKind::Balanced);
}

TEST(Diagnosis, SmallBlocksAndSmallGridsLimitOccupancyUnlessTheLaunchIsAGuess) {
    Profile profile = profileWith({});
    profile.launch.block = {32, 1, 1};
    profile.launch.grid = {8, 1, 1};
    Subject subject;
    subject.kernel.sharedArrays.push_back({.variable = 0, .isDynamic = false, .bytes = 60000});
    Bottleneck bottleneck = subject.diagnosed(&profile);
    EXPECT_EQ(bottleneck.kind, BottleneckKind::Occupancy);
    EXPECT_EQ(bottleneck.evidence.size(), 2u);
    expectNoOpenPlaceholder(bottleneck);
    profile.launch.origin = LaunchOrigin::Guessed;
    EXPECT_EQ(subject.diagnosed(&profile).kind, BottleneckKind::Balanced);
}

TEST(Diagnosis, ASmallGridThatDeviceCodeLaunchesIsOneOfMany) {
    Profile profile = profileWith({});
    profile.launch.block = {256, 1, 1};
    profile.launch.grid = {8, 1, 1};
    Subject subject;
    EXPECT_EQ(subject.diagnosed(&profile).kind, BottleneckKind::Occupancy);
    subject.kernel.launches.clear();
    EXPECT_EQ(subject.diagnosed(&profile).kind, BottleneckKind::Balanced);
}

TEST(Diagnosis, TrafficBoundAndComputeBoundDifferByTheMachinesBalance) {
    Subject subject;
    subject.features.arithmeticIntensity = 0.25;
    EXPECT_EQ(subject.diagnosed().kind, BottleneckKind::MemoryBandwidth);
    expectNoOpenPlaceholder(subject.diagnosed());
    subject.features.arithmeticIntensity = 50;
    EXPECT_EQ(subject.diagnosed().kind, BottleneckKind::Compute);
}

TEST(Diagnosis, ReuseSeenInARunRaisesTheIntensity) {
    Subject subject;
    subject.features.arithmeticIntensity = 0.25;
    Metrics metrics = globalLoads(100, 400, 12800);
    metrics["kernelskill__global_unique_bytes_ld.sum"] = 128;
    Profile profile = profileWith(metrics);
    EXPECT_EQ(subject.diagnosed(&profile).kind, BottleneckKind::Compute);
}

TEST(Diagnosis, FurtherSignaturesAreListedOnce) {
    Subject subject;
    subject.features.arithmeticIntensity = 0.25;
    subject.features.accesses.push_back(accessOf(32, 32));
    Bottleneck bottleneck = subject.diagnosed();
    EXPECT_EQ(bottleneck.kind, BottleneckKind::UncoalescedAccess);
    EXPECT_EQ(bottleneck.others,
              (std::vector{BottleneckKind::BankConflicts, BottleneckKind::MemoryBandwidth}));
}

TEST(Diagnosis, SpellingsAreThoseOfTheContract) {
    EXPECT_EQ(spelling(BottleneckKind::UncoalescedAccess), "uncoalesced-access");
    EXPECT_EQ(spelling(BottleneckKind::TensorCoreEligible), "tensor-core-eligible");
    EXPECT_EQ(spelling(BottleneckKind::Balanced), "balanced");
}

} // namespace
} // namespace kernelskill::engine
