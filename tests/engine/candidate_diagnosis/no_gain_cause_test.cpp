#include "engine/candidate_diagnosis/no_gain_cause.h"
#include "engine/execution/metric_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NoGainCauseTest : public ::testing::Test {
protected:
    NoGainCauseTest() {
        verdict_.status = VerdictStatus::Unmeasured;
        auto bottleneck = std::make_shared<Bottleneck>();
        bottleneck->kind = BottleneckKind::MemoryBandwidth;
        before_.bottleneck = std::move(bottleneck);
        before_.facts = after_.facts = factsOf(32, 0);
        LaunchSpec launch;
        launch.block = {256, 1, 1};
        before_.launch = after_.launch = launch;
    }
    static StaticFacts factsOf(std::uint32_t registers, std::uint64_t spilled) {
        StaticFacts facts;
        facts.architecture = "sm_90";
        facts.registers = registers;
        facts.spillStoreBytes = spilled;
        return facts;
    }
    static std::shared_ptr<const Profile> profileOf(Metrics metrics) {
        auto profile = std::make_shared<Profile>();
        profile->executor = "emulator";
        profile->metrics = std::move(metrics);
        return profile;
    }
    void count(Metrics before, Metrics after) {
        before_.profile = profileOf(std::move(before));
        after_.profile = profileOf(std::move(after));
    }
    void setOccupancy() {
        for (Standing* standing : {&before_, &after_})
            standing->occupancy = *occupancyOf(*standing->facts, *standing->launch);
    }
    [[nodiscard]] std::optional<CandidateDiagnosis> cause() const {
        return noGainCause({text_, text_, verdict_, {}, before_, &after_});
    }

    KernelVersion text_;
    Verdict verdict_;
    Standing before_;
    Standing after_;
};

TEST_F(NoGainCauseTest, RegistersThatLetFewerWarpsInAreTheCause) {
    after_.facts = factsOf(100, 0);
    setOccupancy();
    const auto found = cause();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->cause, "occupancy");
    EXPECT_THAT(found->sentence, HasSubstr("100 % -> 25 %"));
    EXPECT_THAT(found->sentence, HasSubstr("limited by registers"));
    EXPECT_THAT(found->sentence, HasSubstr("32 -> 100 registers"));
    EXPECT_THAT(found->repair, HasSubstr("fewer registers a thread would let"));
}

TEST_F(NoGainCauseTest, SpillsComeBeforeWhatGotALittleWorse) {
    after_.facts = factsOf(40, 64);
    count({{metric::load.globalSectors, 100}}, {{metric::load.globalSectors, 110}});
    const auto found = cause();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->cause, "register-spill");
    EXPECT_THAT(found->evidence, Contains("global sectors 100 -> 110"));
}

TEST_F(NoGainCauseTest, EachCounterHasItsCause) {
    const std::pair<const char*, const char*> causes[] = {
        {metric::store.globalSectors, "more-sectors"},
        {metric::load.globalRequests, "more-requests"},
        {metric::load.sharedWavefronts, "bank-conflicts"},
        {metric::localStores, "register-spill"},
        {metric::atomicSerializations, "atomics"},
        {metric::barriers, "synchronization"},
        {metric::divergentBranchTargets, "divergence"},
        {metric::floatingOperations, "more-arithmetic"}};
    for (const auto& [counter, name] : causes) {
        count({{counter, 100}}, {{counter, 150}});
        const auto found = cause();
        ASSERT_TRUE(found) << counter;
        EXPECT_EQ(found->cause, name);
        EXPECT_THAT(found->sentence, HasSubstr("100 -> 150"));
        EXPECT_FALSE(found->invariant.empty());
        EXPECT_FALSE(found->repair.empty());
    }
}

TEST_F(NoGainCauseTest, TheCountsOfTheReviewDoWhereItWasNotProfiled) {
    verdict_.status = VerdictStatus::Slower;
    verdict_.speedup = 0.8;
    verdict_.before = {{metric::barriers, 10}};
    verdict_.after = {{metric::barriers, 30}};
    const auto found = noGainCause({text_, text_, verdict_, {}, before_});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->cause, "synchronization");
}

TEST_F(NoGainCauseTest, WhatChangesNothingIsSaidToChangeNothing) {
    count({{metric::load.globalSectors, 100}}, {{metric::load.globalSectors, 101}});
    EXPECT_EQ(cause()->cause, "no-effect");
    EXPECT_THAT(cause()->repair, HasSubstr("measure"));
    verdict_.speedup = 1.0;
    EXPECT_THAT(cause()->repair, ::testing::IsEmpty()) << "it was measured";
}

TEST_F(NoGainCauseTest, WhatGotBetterElsewhereIsNotTheBottleneck) {
    count({{metric::load.globalSectors, 100}, {metric::barriers, 8}},
          {{metric::load.globalSectors, 100}, {metric::barriers, 2}});
    const auto found = cause();
    EXPECT_EQ(found->cause, "not-the-bottleneck");
    EXPECT_THAT(found->sentence, HasSubstr("memory-bandwidth"));
    EXPECT_THAT(found->evidence, ElementsAre("barriers 8 -> 2"));
}

TEST_F(NoGainCauseTest, WhatGotWorseIsTheCauseOnlyIfTheModelHoldsItToCostTime) {
    count({{metric::barriers, 8}, {metric::floatingOperations, 100}},
          {{metric::barriers, 2}, {metric::floatingOperations, 150}});
    before_.cost = CostEstimate{"an H200", {1, 100}, {{"arithmetic", {1, 10}}}, 1};
    after_.cost = CostEstimate{"an H200", {1, 100}, {{"arithmetic", {1, 11}}}, 1};
    EXPECT_EQ(cause()->cause, "not-the-bottleneck");
    EXPECT_THAT(cause()->evidence,
                ElementsAre("barriers 8 -> 2", "floating-point operations 100 -> 150"));
    after_.cost->parts[0].seconds.high = 15;
    EXPECT_EQ(cause()->cause, "more-arithmetic");
}

TEST_F(NoGainCauseTest, WhatCannotBeLaunchedIsSaidFirst) {
    after_.launch->block = {1024, 1, 1};
    after_.facts = factsOf(128, 0);
    before_.launch->origin = after_.launch->origin = LaunchOrigin::Evaluated;
    const auto found = cause();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->cause, "launch-resources");
    EXPECT_THAT(found->evidence, ::testing::SizeIs(1));
    after_.compilerRefusal = "line 3: no such instruction";
    EXPECT_EQ(cause()->cause, "gpu-compiler-refuses");
}

TEST_F(NoGainCauseTest, CountsOfDifferentProblemsSayNothing) {
    count({{metric::barriers, 8}}, {{metric::barriers, 80}});
    after_.launch->grid = {7, 1, 1};
    EXPECT_TRUE(cause()) << "a launch in the text follows from the sizes";
    before_.launch->isShapeGuessed = after_.launch->isShapeGuessed = true;
    EXPECT_FALSE(cause());
}

} // namespace
} // namespace kernelskill::engine
