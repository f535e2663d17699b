#include "engine/inputs/fewer_rounds.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

std::optional<LaunchSpec> shortened(const std::string& text) {
    const auto model = parsedProgram(text);
    return withFewerRounds(bestLaunch(text), scalarUses(model.kernels.at(0)));
}

const std::string stepped = R"(
__global__ void relax(float* x, int n, int xmax)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int last = xmax - 1;
    if (i >= n) return;
    for (int s = 0; s < last + 1; ++s)
        x[i] = 0.5f * x[i] + 1.0f;
}
void run(float* x, int n, int xmax) { relax<<<(n + 127) / 128, 128>>>(x, n, xmax); }
)";

TEST(FewerRounds, AreThoseOfLoopsAndNotTheThreads) {
    const LaunchSpec before = bestLaunch(stepped);
    const auto launch = shortened(stepped);
    ASSERT_TRUE(launch);
    EXPECT_EQ(scalarNamed(*launch, "n")->integer, scalarNamed(before, "n")->integer);
    EXPECT_EQ(scalarNamed(*launch, "xmax")->integer, 16);
    EXPECT_THAT(launch->notes.back(), HasSubstr("xmax = 16"));
}

TEST(FewerRounds, LeaveWhatTheUserPinned) {
    EXPECT_FALSE(shortened("// kernelskill: launch relax<<<1, 128>>>(x=rand[128], n=128, "
                           "xmax=4096)" +
                           stepped));
}

TEST(FewerRounds, NeedALoop) {
    EXPECT_FALSE(shortened("__global__ void k(float* x, int n) {\n"
                           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "    if (i < n) x[i] = 1;\n"
                           "}\n"
                           "void run(float* x, int n) { k<<<(n + 127) / 128, 128>>>(x, n); }\n"));
}

} // namespace
} // namespace kernelskill::engine
