#include "analysis/compile/compute_capability.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::analysis {
namespace {

using testing::Eq;
using testing::Optional;

TEST(ComputeCapability, IsReadFromEachSpelling) {
    EXPECT_THAT(computeCapabilityOf("sm_90"), Optional(ComputeCapability{9, 0}));
    EXPECT_THAT(computeCapabilityOf("sm_90a"), Optional(ComputeCapability{9, 0}));
    EXPECT_THAT(computeCapabilityOf("compute_86"), Optional(ComputeCapability{8, 6}));
    EXPECT_THAT(computeCapabilityOf("sm_120f"), Optional(ComputeCapability{12, 0}));
    EXPECT_THAT(computeCapabilityOf("10.0"), Optional(ComputeCapability{10, 0}));
}

TEST(ComputeCapability, IsNotMadeUp) {
    for (const char* text :
         {"", "native", "all-major", "sm_", "sm_9", "sm_9x", "lto_90", "9.", "-1.0", "sm_90aa"})
        EXPECT_THAT(computeCapabilityOf(text), Eq(std::nullopt)) << text;
}

TEST(ComputeCapability, NamesItsArchitecture) {
    EXPECT_EQ(architectureName({9, 0}), "sm_90");
    EXPECT_EQ(architectureName({12, 0}), "sm_120");
}

TEST(MultiprocessorLimits, KnowsTheCapabilitiesInUse) {
    for (const auto capability :
         {ComputeCapability{7, 0}, ComputeCapability{7, 5}, ComputeCapability{8, 0},
          ComputeCapability{8, 6}, ComputeCapability{8, 9}, ComputeCapability{9, 0},
          ComputeCapability{10, 0}, ComputeCapability{12, 0}}) {
        const auto limits = limitsOf(capability);
        ASSERT_TRUE(limits) << architectureName(capability);
        EXPECT_EQ(limits->capability, capability);
        EXPECT_EQ(limits->sharedBytes - limits->sharedBytesReservedPerBlock,
                  limits->sharedBytesPerBlock);
    }
    EXPECT_FALSE(limitsOf({6, 0}));
    EXPECT_EQ(limitsOf({8, 9})->warps, 48U);
    EXPECT_EQ(limitsOf({9, 0})->sharedBytes, 233'472U);
}

} // namespace
} // namespace kernelskill::analysis
