#include "engine/review/rounded_numbers.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

bool brings(const char* original, const char* edited) {
    return bringsRoundedNumbers(original, edited, {}, {});
}

TEST(RoundedNumbers, AreThoseThatFloatDoesNotHold) {
    EXPECT_TRUE(brings("y = x / 3.0f;", "y = x * 0.33333334f;"));
    EXPECT_TRUE(brings("y = x;", "y = x * 1e-1;"));
    EXPECT_TRUE(brings("y = x;", "#define K 1.442695f\ny = x * K;"));
    EXPECT_FALSE(brings("y = x / 2.0f;", "y = x * 0.5f;"));
    EXPECT_FALSE(brings("y = x;", "y = x * 0x1p-22f;"));
    EXPECT_FALSE(brings("int y = x;", "int y = x & 0x1ffffffe + 16777217;"));
}

TEST(RoundedNumbers, AreNoneThatTheOriginalHas) {
    EXPECT_FALSE(brings("y = x * 0.1;", "y = 0.1f * x;"));
    EXPECT_FALSE(brings("#define K 0.1f\ny = K * x;", "y = x * 0.1f;"));
    EXPECT_TRUE(brings("y = x * 0.1f;", "y = x * 0.2f;"));
}

LaunchSpec launchWith(double value) {
    ScalarSpec scalar;
    scalar.floating = value;
    LaunchSpec launch;
    launch.arguments.emplace_back(scalar);
    return launch;
}

TEST(RoundedNumbers, MayBeAnArgument) {
    EXPECT_FALSE(bringsRoundedNumbers("", "", launchWith(3), launchWith(3)));
    EXPECT_TRUE(bringsRoundedNumbers("", "", launchWith(3), launchWith(1.0f / 3)));
    EXPECT_FALSE(bringsRoundedNumbers("", "", launchWith(3), {}));
}

} // namespace
} // namespace kernelskill::engine
