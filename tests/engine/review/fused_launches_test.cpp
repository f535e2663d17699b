#include "engine/review/host/fused_launches.h"
#include "engine/review/host/host_order.h"
#include "tests/engine/review/host_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

/// The host's side of slice(x, by, n) in the place of step(x, by, n) and say(x).
std::string verdictOnFused(const std::string& before, const std::string& after) {
    const std::vector<FusedKernel> fused{{"slice", "step", "say", {0, 1, 2}, {0}}};
    const CheckResult result =
        checkHostOrder(parsed(before), parsed(after), {.fused = fused, .split = {}});
    return result ? std::string() : result.error().detail;
}

/// The host's side of step(x, by, n) and say(x) in the place of slice(x, by, n).
std::string verdictOnSplit(const std::string& before, const std::string& after) {
    const std::vector<FusedKernel> split{{"slice", "step", "say", {0, 1, 2}, {0}}};
    const CheckResult result =
        checkHostOrder(parsed(before), parsed(after), {.fused = {}, .split = split});
    return result ? std::string() : result.error().detail;
}

const std::string first = "step<<<n, 32>>>(a, by, n);\n";
const std::string second = "say<<<n, 32>>>(a);\n";
const std::string both = "slice<<<n, 32>>>(a, by, n);\n";
const std::string wait = "cudaDeviceSynchronize();\n";

TEST(FusedLaunches, StandForTwo) {
    EXPECT_EQ(verdictOnFused(first + second, both), "");
    EXPECT_EQ(verdictOnFused("for (int i = 0; i < 5; ++i) {\n" + first + second + "}\n",
                             "for (int i = 0; i < 5; ++i) {\n" + both + "}\n"),
              "");
}

TEST(SplitLaunches, StandForOne) {
    EXPECT_EQ(verdictOnSplit(both, first + second), "");
    EXPECT_EQ(verdictOnSplit("for (int i = 0; i < 5; ++i) {\n" + both + "}\n",
                             "for (int i = 0; i < 5; ++i) {\n" + first + second + "}\n"),
              "");
    EXPECT_EQ(verdictOnSplit(both + wait, first + wait + second + wait), "");
}

TEST(SplitLaunches, StandWhereTheOneStoodInItsStreamWithItsValues) {
    const std::string unlike = "were not launched so, one after the other";
    for (const std::string& after :
         {second + first, first, first + "say<<<n, 32, 0, mine>>>(a);\n",
          "step<<<n, 64>>>(a, by, n);\n" + second, first + "say<<<n, 32>>>(b);\n",
          first + "add<<<n, 32>>>(a, b, n);\n" + second})
        EXPECT_THAT(verdictOnSplit(both, after), HasSubstr(unlike)) << after;
    const std::string copy = "cudaMemcpy(b, a, 4, cudaMemcpyDeviceToDevice);\n";
    EXPECT_NE(verdictOnSplit(both + copy, copy + first + second), "");
    EXPECT_NE(verdictOnSplit(both, first + second + second), "");
}

TEST(FusedLaunches, MayBeBesideLaunchesOfTheSameKernels) {
    EXPECT_EQ(verdictOnFused(first + first + second + second, first + both + second), "");
    EXPECT_THAT(verdictOnFused(first + first + second, both),
                HasSubstr("step 1 was in the default stream: step<<<"));
}

TEST(FusedLaunches, LeaveUnknownValuesTheirNames) {
    const std::string more = "int k = std::max(other(n), 3);\nstep<<<k, 32>>>(a, by, k);\n";
    EXPECT_EQ(verdictOnFused(first + second + more, both + more), "");
}

TEST(FusedLaunches, HaveOneConfigurationAndTheSameValues) {
    const std::string unlike = "were not launched so, one after the other";
    EXPECT_THAT(verdictOnFused("step<<<n, 64>>>(a, by, n);\n" + second, both), HasSubstr(unlike));
    EXPECT_THAT(verdictOnFused(first + "say<<<n, 32>>>(b);\n", both), HasSubstr(unlike));
    EXPECT_THAT(verdictOnFused(first + "say<<<n, 32, 0, mine>>>(a);\n", both), HasSubstr(unlike));
    EXPECT_THAT(verdictOnFused(first + "n = 3;\n" + second, both), HasSubstr(unlike));
}

TEST(FusedLaunches, HaveNoWorkBetweenThem) {
    for (const char* work : {"cudaMemcpyAsync(b, a, 4, cudaMemcpyDeviceToDevice);\n", "use(a);\n",
                             "add<<<n, 32>>>(a, b, n);\n"})
        EXPECT_THAT(verdictOnFused(first + work + second, work + both),
                    HasSubstr("were not launched so"));
}

TEST(FusedLaunches, WaitForWhatTheSecondOneWaitedFor) {
    EXPECT_THAT(verdictOnFused(first + wait + second + wait, both + wait),
                HasSubstr("was over before in"));
    EXPECT_EQ(verdictOnFused(first + wait + second + wait, wait + both + wait), "");
}

TEST(FusedLaunches, AreWaitedForAsTheFirstOneWas) {
    EXPECT_THAT(verdictOnFused(first + wait + second + "use(a);\n", wait + both + "use(a);\n"),
                HasSubstr("slice<<<"));
}

} // namespace
} // namespace kernelskill::engine
