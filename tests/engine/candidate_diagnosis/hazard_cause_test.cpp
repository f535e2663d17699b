/// Hazards by their kind. That the repair fits the code is what candidate_diagnoser_test.cpp shows.
#include "engine/candidate_diagnosis/hazard_cause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;

CandidateDiagnosis causeOf(HazardKind kind, RaceScope scope = RaceScope::Block) {
    auto model = std::make_shared<analysis::FileModel>();
    model->file = "a.cu";
    model->kernels.emplace_back().qualifiedName = "k";
    const KernelVersion text{{"a.cu", "", {}, {}, model}, "k"};
    Hazard hazard;
    hazard.kind = kind;
    hazard.details.scope = scope;
    hazard.line = 4;
    hazard.message = "seen";
    const auto found = hazardCause(text, {.stage = ReviewStage::Hazards,
                                          .trial = TrialPlace{.label = "n=7", .launch = {}},
                                          .hazards = {hazard}});
    EXPECT_THAT(found.evidence,
                ElementsAre(std::string(spelling(kind)) + " on line 5: seen", "seen at n=7"));
    EXPECT_FALSE(found.sentence.empty());
    EXPECT_FALSE(found.invariant.empty());
    EXPECT_FALSE(found.repair.empty());
    return found;
}

TEST(HazardCause, EachKindHasItsOwn) {
    EXPECT_EQ(causeOf(HazardKind::OutOfBounds).cause, "out-of-bounds");
    EXPECT_EQ(causeOf(HazardKind::BarrierDivergence).cause, "barrier-divergence");
    EXPECT_EQ(causeOf(HazardKind::UninitializedRead).cause, "uninitialized-read");
    EXPECT_EQ(causeOf(HazardKind::Misaligned).cause, "misaligned");
}

TEST(HazardCause, OfARaceDependsOnHowFarApartItsThreadsAre) {
    EXPECT_EQ(causeOf(HazardKind::Race).cause, "missing-barrier");
    const auto warp = causeOf(HazardKind::Race, RaceScope::Warp);
    EXPECT_EQ(warp.cause, "missing-barrier");
    EXPECT_THAT(warp.repair, ::testing::HasSubstr("__syncwarp()"));
    EXPECT_EQ(causeOf(HazardKind::Race, RaceScope::Grid).cause, "shared-between-blocks")
        << "no barrier of a block ends it";
}

} // namespace
} // namespace kernelskill::engine
