#include "analysis/scan/constant_text.h"

#include <gtest/gtest.h>

namespace kernelskill::analysis {
namespace {

using Values = std::vector<std::optional<std::int64_t>>;

constexpr std::string_view text = "#define WARP 32 // lanes\n"
                                  "#define TWICE (2 * WARP)\n"
                                  "#define AREA(x) ((x) * (x))\n"
                                  "#define CHICKEN EGG\n"
                                  "#define EGG CHICKEN\n"
                                  "constexpr int blocks = WARP >> 3, half = 0.5;\n";

TEST(ConstantText, FollowsMacrosAndConstants) {
    EXPECT_EQ(evaluateConstantList("2 * WARP, blocks", text), (Values{64, 4}));
    EXPECT_EQ(evaluateConstantList("(TWICE), -(3 - 1 << 2)", text), (Values{64, -8}));
    EXPECT_EQ(evaluateConstantList("sizeof(float) * WARP", text), (Values{128}));
    EXPECT_EQ(evaluateConstantList("WARP > 16 ? 256 : 128", text), (Values{256}));
}

TEST(ConstantText, LeavesTheRestOpen) {
    EXPECT_EQ(evaluateConstantList("UNKNOWN, WARP", text), (Values{std::nullopt, 32}));
    EXPECT_EQ(evaluateConstantList("UNKNOWN ? 256 : 128", text), (Values{std::nullopt}));
    EXPECT_EQ(evaluateConstantList("CHICKEN", text), (Values{std::nullopt}));
    EXPECT_EQ(evaluateConstantList("AREA", text), (Values{std::nullopt}));
    EXPECT_EQ(evaluateConstantList("half", text), (Values{std::nullopt}));
    EXPECT_EQ(evaluateConstantList("1 << 70", text), (Values{std::nullopt}));
}

} // namespace
} // namespace kernelskill::analysis
