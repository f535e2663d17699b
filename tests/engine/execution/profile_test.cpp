#include "engine/execution/profile.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

TEST(HazardKind, IsSpelledAsTheContractSpellsIt) {
    EXPECT_EQ(spelling(HazardKind::Race), "race");
    EXPECT_EQ(spelling(HazardKind::OutOfBounds), "out-of-bounds");
    EXPECT_EQ(spelling(HazardKind::BarrierDivergence), "barrier-divergence");
    EXPECT_EQ(spelling(HazardKind::UninitializedRead), "uninitialized-read");
    EXPECT_EQ(spelling(HazardKind::Misaligned), "misaligned");
}

} // namespace
} // namespace kernelskill::engine
