/// The times of variants, and which of them is preferred.
#include "engine/graph/choice/variant_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine::graph {
namespace {

using ::testing::SizeIs;

TEST(PreferredVariant, IsTheFirstOfThoseThatAreEquallyFast) {
    EXPECT_EQ(preferredOf({}), std::nullopt);
    EXPECT_EQ(preferredOf({{std::nullopt, 0, "no"}}), std::nullopt);
    EXPECT_EQ(preferredOf({{102, 0, ""}, {101, 0, ""}, {100, 0, ""}}), 1U);
    EXPECT_EQ(preferredOf({{std::nullopt, 0, ""}, {100, 0, ""}, {100, 0, ""}}), 1U);
}

TEST(VariantTimes, AreReadBackFromTheirText) {
    const std::vector<VariantTime> times{{12.5, 0.02, ""}, {std::nullopt, 0, "nvcc: error"}};
    const auto read = variantTimesFrom(textOf(times));
    ASSERT_TRUE(read);
    ASSERT_THAT(*read, SizeIs(2));
    EXPECT_EQ(read->at(0).microseconds, 12.5);
    EXPECT_EQ(read->at(1).microseconds, std::nullopt);
    EXPECT_EQ(read->at(1).why, "nvcc: error");
    EXPECT_FALSE(variantTimesFrom("[1]"));
    EXPECT_FALSE(variantTimesFrom("no JSON"));
}

} // namespace
} // namespace kernelskill::engine::graph
