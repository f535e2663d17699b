/// Tests how a diagnosis uses the GPU, its compiler's facts and its measurements.
#include "engine/execution/metric_names.h"
#include "tests/engine/diagnosis/subject.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::profileWith;
using kernelskill::testing::Subject;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Loads of 4 bytes, each of them distinct.
Metrics streamed(double bytes) {
    return {{metric::load.globalRequests, bytes / 128},
            {metric::load.globalSectors, bytes / 32},
            {metric::load.globalBytes, bytes},
            {metric::load.uniqueBytes, bytes}};
}

TEST(DiagnosisForAGpu, WeighsArithmeticByTheBalanceOfTheChosenOne) {
    Subject subject;
    subject.features.arithmeticIntensity = 30;
    const Profile profile = profileWith(streamed(1 << 26));
    const auto on4090 = subject.diagnosed(&profile, nullptr, "RTX 4090");
    EXPECT_EQ(on4090.kind, BottleneckKind::MemoryBandwidth);
    EXPECT_THAT(on4090.evidence.at(0).text, HasSubstr("an RTX 4090's balance of 81.9 (of the"));
    const auto onH200 = subject.diagnosed(&profile, nullptr, "H200");
    EXPECT_EQ(onH200.kind, BottleneckKind::Compute);
    EXPECT_THAT(onH200.evidence.at(0).text, HasSubstr("an H200's balance of 11.9 (measured"));
    subject.features.arithmeticIntensity = 12;
    EXPECT_EQ(subject.diagnosed(&profile, nullptr, "L4").kind, BottleneckKind::MemoryBandwidth);
}

TEST(DiagnosisForAGpu, TakesTheTextsEstimateByItToo) {
    Subject subject;
    subject.features.arithmeticIntensity = 30;
    EXPECT_EQ(subject.diagnosed(nullptr, nullptr, "RTX 4090").kind,
              BottleneckKind::MemoryBandwidth);
    EXPECT_EQ(subject.diagnosed(nullptr, nullptr, "H200").kind, BottleneckKind::Compute);
}

TEST(DiagnosisForAGpu, CallsAKernelNearTheBalanceBalanced) {
    Subject subject;
    subject.features.arithmeticIntensity = 10;
    const Profile profile = profileWith(streamed(1 << 26));
    const auto bottleneck = subject.diagnosed(&profile);
    EXPECT_EQ(bottleneck.rule, "near-the-balance");
    EXPECT_EQ(bottleneck.kind, BottleneckKind::Balanced);
    ASSERT_FALSE(bottleneck.evidence.empty());
}

TEST(DiagnosisForAGpu, DoesNotTakeIntegerWorkForAWaitForMemory) {
    Subject subject;
    subject.features.arithmeticIntensity = 0;
    Profile profile = profileWith(streamed(1 << 20));
    profile.metrics[metric::branchTargets] = 1e4;
    EXPECT_EQ(subject.diagnosed(&profile).kind, BottleneckKind::MemoryBandwidth);
    profile.metrics[metric::branchTargets] = 1e7; // 9.6 us to issue, 0.2 us of bytes.
    const auto bottleneck = subject.diagnosed(&profile);
    EXPECT_EQ(bottleneck.rule, "instructions-outlast-memory");
    EXPECT_EQ(bottleneck.kind, BottleneckKind::Compute);
    EXPECT_FALSE(bottleneck.gain);
}

TEST(DiagnosisForAGpu, ClaimsNothingOfALoopOfIntegersFromTheTextAlone) {
    Subject subject;
    subject.features.arithmeticIntensity = 0;
    EXPECT_EQ(subject.diagnosed().kind, BottleneckKind::MemoryBandwidth); // A copy.
    subject.kernel.loops.emplace_back();
    EXPECT_EQ(subject.diagnosed().kind, BottleneckKind::Balanced);
    subject.kernel.accesses[0].loops = {0}; // A copy in a loop.
    EXPECT_EQ(subject.diagnosed().kind, BottleneckKind::MemoryBandwidth);
}

TEST(DiagnosisForAGpu, NamesTheLinesThatMoveAndThatCompute) {
    Subject subject;
    Profile profile = profileWith(streamed(1 << 26));
    profile.metrics[metric::floatingOperations] = 1e10;
    profile.metrics[metric::single.fused] = 5e9;
    profile.lines.push_back({"a.cu", 5, {{metric::floatingOperations, 9e9}}});
    const auto computes = subject.diagnosed(&profile);
    EXPECT_EQ(computes.kind, BottleneckKind::Compute);
    ASSERT_EQ(computes.evidence.size(), 2u);
    EXPECT_EQ(computes.evidence[1].line, 5u);
    EXPECT_EQ(computes.evidence[1].hint, "90 % of the FLOP");
    profile.metrics[metric::single.fused] = 5e6;
    const auto moves = subject.diagnosed(&profile);
    EXPECT_EQ(moves.kind, BottleneckKind::MemoryBandwidth);
    ASSERT_EQ(moves.evidence.size(), 2u);
    EXPECT_EQ(moves.evidence[0].line, std::nullopt); // The deciding evidence comes first.
    EXPECT_EQ(moves.evidence[1].line, 2u);
    EXPECT_EQ(moves.others, std::vector<BottleneckKind>{});
}

TEST(DiagnosisForAGpu, CountsBlocksAgainstItsMultiprocessors) {
    Subject subject;
    Profile profile = profileWith({});
    profile.launch.grid = {50, 1, 1};
    EXPECT_EQ(subject.diagnosed(&profile, nullptr, "H200").rule, "grid-smaller-than-machine");
    EXPECT_EQ(subject.diagnosed(&profile, nullptr, "T4").kind, BottleneckKind::Balanced);
}

TEST(DiagnosisWithFacts, FillsWarpSlotsByRegistersOnceTheyAreKnown) {
    const Subject subject;
    const Profile profile = profileWith({});
    EXPECT_NE(subject.diagnosed(&profile).kind, BottleneckKind::Occupancy);
    StaticFacts facts;
    facts.registers = 168; // 256 threads: one block.
    const auto refined = subject.diagnosed(&profile, &facts);
    EXPECT_EQ(refined.kind, BottleneckKind::Occupancy);
    ASSERT_FALSE(refined.evidence.empty());
    EXPECT_THAT(refined.evidence[0].text, HasSubstr("limited by registers"));
    EXPECT_THAT(refined.evidence[0].text, HasSubstr("168 registers a thread"));
    ASSERT_TRUE(refined.gain);
    EXPECT_DOUBLE_EQ(refined.gain->factor.low, 1);
    EXPECT_DOUBLE_EQ(refined.gain->factor.high, 8);
}

TEST(DiagnosisWithFacts, SaysSoWhereRegistersAreNotCountedYet) {
    Subject subject;
    Profile profile = profileWith({});
    profile.launch.dynamicSharedBytes = 100'000;
    const auto early = subject.diagnosed(&profile);
    EXPECT_EQ(early.kind, BottleneckKind::Occupancy);
    EXPECT_THAT(early.evidence.at(0).text, HasSubstr("limited by shared-memory"));
    EXPECT_THAT(early.evidence.at(0).text, HasSubstr("registers not counted"));
}

TEST(DiagnosisForAGpu, LeavesItToTheCachesWhereTheyDecide) {
    Subject subject;
    Profile profile = profileWith(streamed(1 << 26));
    profile.metrics[metric::single.fused] = 4e8; // 11.9 FLOP for each distinct byte
    EXPECT_EQ(subject.diagnosed(&profile).kind, BottleneckKind::Balanced);
    profile.metrics[metric::load.globalSectors] *= 50;
    profile.lines.clear();
    const auto bottleneck = subject.diagnosed(&profile);
    EXPECT_EQ(bottleneck.rule, "counted-intensity-if-uncached");
    EXPECT_THAT(bottleneck.evidence.at(0).text, HasSubstr("memory may decide"));
}

TEST(DiagnosisForAGpu, BalancedMeansThatLittleIsLeft) {
    Subject subject;
    Profile profile = profileWith(streamed(1 << 26));
    profile.metrics[metric::single.fused] = 4e8;
    const auto bottleneck = subject.diagnosed(&profile);
    EXPECT_EQ(bottleneck.kind, BottleneckKind::Balanced);
    EXPECT_EQ(bottleneck.headroom, "low"); // Memory and arithmetic overlap.
}

TEST(DiagnosisForAGpu, NeedsNoRunToSeeThatALaunchIsSmall) {
    const Subject subject;
    LaunchSpec launch;
    launch.origin = LaunchOrigin::Evaluated;
    launch.grid = {50, 1, 1};
    launch.block = {256, 1, 1};
    DiagnosisInput input{.kernel = subject.kernel,
                         .features = subject.features,
                         .gpu = kernelskill::testing::builtinGpu("H200"),
                         .launch = &launch};
    EXPECT_EQ(diagnose(input).rule, "grid-smaller-than-machine");
    launch.origin = LaunchOrigin::Guessed;
    EXPECT_EQ(diagnose(input).kind, BottleneckKind::Balanced);
    launch.origin = LaunchOrigin::Evaluated;
    launch.isGridOfDevice = true; // The user's GPU has more multiprocessors than the emulated one.
    EXPECT_NE(diagnose(input).rule, "grid-smaller-than-machine");
    launch.isGridOfDevice = false;
    launch.isGridStandIn = true; // The text does not tell what the grid is in the end.
    EXPECT_NE(diagnose(input).rule, "grid-smaller-than-machine");
}

TEST(DiagnosisForAGpu, NeedsNoSizeToSeeThatABlockIsSmallerThanAWarp) {
    const auto ruleWith = [](const std::string& block) {
        const std::string text =
            "__global__ void k(float* x, int n) {\n"
            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) x[i] += 1;\n}\n"
            "void run(float* x, int n) { k<<<n / 8, " +
            block + ">>>(x, n); }\n";
        const auto model = parsedProgram(text);
        const auto features = analysis::extractFeatures(model.kernels.front());
        const LaunchSpec launch = bestLaunch(text);
        EXPECT_EQ(launch.origin, LaunchOrigin::Guessed);
        return diagnose({.kernel = model.kernels.front(),
                         .features = features,
                         .gpu = kernelskill::testing::builtinGpu("H200"),
                         .launch = &launch,
                         .source = model.source.get(),
                         .file = &model})
            .rule;
    };
    EXPECT_EQ(ruleWith("dim3(4, 4)"), "block-smaller-than-warp");
    EXPECT_NE(ruleWith("dim3(8, 8)"), "block-smaller-than-warp");
    EXPECT_NE(ruleWith("n"), "block-smaller-than-warp");
}

TEST(DiagnosisForAGpu, SaysNothingOfBlocksThatAProgramTriesOneByOne) {
    const auto ruleWith = [](const std::string& block) {
        const std::string text =
            "__global__ void k(float* x, int n) {\n"
            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) x[i] += 1;\n}\n"
            "int main() {\n    float* x;\n    for (int threads = 32; threads <= 512; threads *= 2) "
            "{\n        const dim3 block(" +
            block + ");\n        k<<<65536, block>>>(x, 1 << 20);\n    }\n}\n";
        const auto model = parsedProgram(text);
        const auto features = analysis::extractFeatures(model.kernels.front());
        const LaunchSpec launch = bestLaunch(text);
        EXPECT_EQ(launch.block.x, 32U);
        return diagnose({.kernel = model.kernels.front(),
                         .features = features,
                         .gpu = kernelskill::testing::builtinGpu("H200"),
                         .launch = &launch,
                         .source = model.source.get(),
                         .file = &model})
            .rule;
    };
    EXPECT_EQ(ruleWith("32"), "few-resident-warps");
    EXPECT_NE(ruleWith("threads"), "few-resident-warps");
}

TEST(LaunchOverhead, OfARunNeedsSizesThatAreTheProgramsOwn) {
    const auto model = parsedProgram(
        "__global__ void k(const float* x, float* y, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = x[i];\n}\n"
        "void run(const float* x, float* y, int n) {\n    for (int i = 0; i < 100; ++i)\n"
        "        k<<<(n + 255) / 256, 256>>>(x, y, n);\n}\n");
    const auto features = analysis::extractFeatures(model.kernels.front());
    Profile profile = profileWith(streamed(1 << 14));
    const auto rule = [&] {
        return diagnose({.kernel = model.kernels.front(),
                         .features = features,
                         .gpu = kernelskill::testing::builtinGpu("H200"),
                         .profile = &profile,
                         .source = model.source.get(),
                         .file = &model})
            .rule;
    };
    EXPECT_EQ(rule(), "launches-longer-than-kernel");
    profile.launch.origin = LaunchOrigin::Guessed;
    EXPECT_NE(rule(), "launches-longer-than-kernel");
}

TEST(DiagnosisWithFacts, SpillsAreABottleneckWithoutAGain) {
    const Subject subject;
    StaticFacts facts;
    facts.compiler = "nvcc 13.0";
    facts.architecture = "sm_90";
    facts.registers = 32;
    facts.spillStoreBytes = 120;
    facts.spillLoadBytes = 136;
    const auto bottleneck = subject.diagnosed(nullptr, &facts);
    EXPECT_EQ(bottleneck.kind, BottleneckKind::RegisterSpill);
    EXPECT_THAT(bottleneck.evidence.at(0).text, HasSubstr("120 bytes stored and 136 loaded"));
    EXPECT_FALSE(bottleneck.gain);
    facts.spillStoreBytes = 4;
    facts.spillLoadBytes = 4;
    EXPECT_NE(subject.diagnosed(nullptr, &facts).kind, BottleneckKind::RegisterSpill);
}

/// A profile of a GPU: counts, and percents of peaks.
Profile measured(double dram, double multiprocessors, double warps, double waits) {
    Profile profile = profileWith(streamed(1 << 26));
    profile.executor = "gpu";
    profile.metrics["dram__throughput.avg.pct_of_peak_sustained_elapsed"] = dram;
    profile.metrics["sm__throughput.avg.pct_of_peak_sustained_elapsed"] = multiprocessors;
    profile.metrics["sm__warps_active.avg.pct_of_peak_sustained_active"] = warps;
    profile.metrics["smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct"] = waits;
    return profile;
}

TEST(MeasuredDiagnosis, FollowsThePercentsOfThePeaks) {
    Subject subject;
    subject.features.arithmeticIntensity = 0.25;
    const auto kindOf = [&](const Profile& profile) { return subject.diagnosed(&profile).kind; };
    EXPECT_EQ(kindOf(measured(92, 20, 90, 70)), BottleneckKind::MemoryBandwidth);
    EXPECT_EQ(kindOf(measured(55, 20, 90, 70)), BottleneckKind::MemoryLatency);
    EXPECT_EQ(kindOf(measured(20, 85, 90, 5)), BottleneckKind::Compute);
    EXPECT_EQ(kindOf(measured(20, 30, 30, 5)), BottleneckKind::Occupancy);
    // No rule holds, and the model must not claim more than the measurement.
    EXPECT_EQ(kindOf(measured(50, 50, 90, 5)), BottleneckKind::Balanced);
}

TEST(MeasuredDiagnosis, ComesBeforeTheModel) {
    Subject subject;
    subject.features.arithmeticIntensity = 1000;
    Profile profile = profileWith(streamed(1 << 26));
    EXPECT_EQ(subject.diagnosed(&profile).kind, BottleneckKind::Compute);
    profile = measured(92, 20, 90, 70);
    const auto bottleneck = subject.diagnosed(&profile);
    EXPECT_EQ(bottleneck.kind, BottleneckKind::MemoryBandwidth);
    EXPECT_EQ(bottleneck.rule, "measured-bandwidth");
    EXPECT_EQ(bottleneck.headroom, "low");
    EXPECT_THAT(bottleneck.others, Not(Contains(BottleneckKind::Compute)));
}

TEST(MeasuredDiagnosis, NamesTheLineWhereWarpsWaitMost) {
    Profile profile = measured(50, 20, 90, 70);
    profile.lines.push_back(
        {"a.cu", 7, {{"smsp__pcsamp_warps_issue_stalled_long_scoreboard", 60}}});
    profile.lines.push_back({"a.cu", 9, {{"smsp__pcsamp_warps_issue_stalled_barrier", 90}}});
    const auto bottleneck = Subject().diagnosed(&profile);
    EXPECT_EQ(bottleneck.kind, BottleneckKind::MemoryLatency);
    ASSERT_FALSE(bottleneck.evidence.empty());
    EXPECT_EQ(bottleneck.evidence[0].line, 7u);
    EXPECT_THAT(bottleneck.evidence[0].text, HasSubstr("most on line 8"));
}

TEST(MeasuredDiagnosis, ReadsWaitsPerInstructionToo) {
    Profile profile = measured(50, 20, 90, 70);
    profile.metrics.erase("smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct");
    EXPECT_EQ(Subject().diagnosed(&profile).kind, BottleneckKind::Balanced);
    profile.metrics["smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"] = 8;
    profile.metrics["smsp__average_warp_latency_per_inst_issued.ratio"] = 16;
    const auto bottleneck = Subject().diagnosed(&profile);
    EXPECT_EQ(bottleneck.kind, BottleneckKind::MemoryLatency);
    EXPECT_THAT(bottleneck.evidence.at(0).text, HasSubstr("50 % of the time"));
}

TEST(MeasuredDiagnosis, CallsLocalTrafficASpillAndBoundsItsGain) {
    Profile profile = profileWith(streamed(1 << 26));
    profile.metrics[metric::localLoadSectors] = 1 << 20;
    profile.metrics[metric::localStoreSectors] = 1 << 20;
    StaticFacts facts;
    facts.registers = 32;
    const auto bottleneck = Subject().diagnosed(&profile, &facts);
    EXPECT_EQ(bottleneck.kind, BottleneckKind::RegisterSpill);
    EXPECT_THAT(bottleneck.evidence.at(0).text, HasSubstr("50 % of the sectors"));
    ASSERT_TRUE(bottleneck.gain);
    EXPECT_EQ(bottleneck.gain->factor, (Interval{1, 2}));
    // There is no traffic, so the spills do not matter.
    facts.spillStoreBytes = 400;
    profile.metrics[metric::localLoadSectors] = 0;
    profile.metrics[metric::localStoreSectors] = 0;
    EXPECT_NE(Subject().diagnosed(&profile, &facts).kind, BottleneckKind::RegisterSpill);
}

TEST(MeasuredDiagnosis, LeavesConflictsAloneWhereL1HasTimeLeft) {
    Metrics metrics{{metric::load.sharedRequests, 100},
                    {metric::load.sharedWavefronts, 3200},
                    {metric::load.sharedConflicts, 3100}};
    Profile profile = profileWith(metrics);
    EXPECT_EQ(Subject().diagnosed(&profile).kind, BottleneckKind::BankConflicts);
    profile.metrics["l1tex__throughput.avg.pct_of_peak_sustained_active"] = 12;
    EXPECT_EQ(Subject().diagnosed(&profile).kind, BottleneckKind::Balanced);
    profile.metrics["l1tex__throughput.avg.pct_of_peak_sustained_active"] = 95;
    EXPECT_EQ(Subject().diagnosed(&profile).kind, BottleneckKind::BankConflicts);
}

TEST(Gains, AreIntervalsThatStartAtOneAndSayWhatTheyFollowFrom) {
    Metrics metrics = streamed(1 << 20);
    metrics[metric::load.globalSectors] *= 8;
    Profile profile = profileWith(metrics);
    const auto bottleneck = Subject().diagnosed(&profile);
    EXPECT_EQ(bottleneck.kind, BottleneckKind::UncoalescedAccess);
    ASSERT_TRUE(bottleneck.gain);
    EXPECT_EQ(bottleneck.gain->factor, (Interval{1, 8}));
    EXPECT_THAT(describe(*bottleneck.gain),
                HasSubstr("at most 8 times as fast (model: all sectors moved"));
    EXPECT_EQ(bottleneck.headroom, "high");
}

TEST(Gains, OfAStreamThatUsesAllItsBytesAreSmall) {
    Subject subject;
    subject.features.arithmeticIntensity = 0.1;
    const Profile profile = profileWith(streamed(1 << 26));
    const auto bottleneck = subject.diagnosed(&profile);
    EXPECT_EQ(bottleneck.kind, BottleneckKind::MemoryBandwidth);
    ASSERT_TRUE(bottleneck.gain);
    EXPECT_LT(bottleneck.gain->factor.high, 1.2); // A copy reaches 4.3 of 4.8 TB/s.
    EXPECT_EQ(bottleneck.headroom, "low");
}

TEST(Gains, EndAtTheLeastTimeOfWhatWasMeasured) {
    Metrics metrics = streamed(1 << 26); // 14 us at the peak of an H200.
    metrics[metric::load.globalSectors] *= 8;
    metrics["gpu__time_duration.sum"] = 28'000;
    Profile profile = profileWith(metrics);
    const auto bottleneck = Subject().diagnosed(&profile);
    ASSERT_TRUE(bottleneck.gain);
    EXPECT_NEAR(bottleneck.gain->factor.high, 2, 0.01);
    EXPECT_THAT(bottleneck.gain->basis, HasSubstr("measured time"));
}

TEST(Gains, OfConflictsLeaveTheTimeOfTheBytes) {
    Metrics metrics = streamed(1 << 26);
    metrics[metric::load.sharedRequests] = 1e5;
    metrics[metric::load.sharedWavefronts] = 32e5;
    metrics[metric::load.sharedConflicts] = 31e5;
    Profile profile = profileWith(metrics);
    const auto bottleneck = Subject().diagnosed(&profile);
    EXPECT_EQ(bottleneck.kind, BottleneckKind::BankConflicts);
    ASSERT_TRUE(bottleneck.gain);
    // 12.2 us of wavefronts beside 14 us of bytes: one after the other, 26.2 over 14.4.
    EXPECT_NEAR(bottleneck.gain->factor.high, 1.82, 0.02);
}

} // namespace
} // namespace kernelskill::engine
