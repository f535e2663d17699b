#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "warp-uniform-control-flow";

/// `work` between two barriers, behind which every thread has an element of `s`.
std::string between(const std::string& work, const std::string& before = "    __syncthreads();\n",
                    const std::string& after = "    __syncthreads();\n") {
    return "__device__ float helper(float x);\n__global__ void k(float* x, int m, int n) {\n    "
           "__shared__ float s[1024];\n    int tid = threadIdx.x;\n    float own = x[tid];\n    "
           "s[tid] = own;\n" +
           before + work + after + "    x[tid] = s[tid];\n}\n";
}

TEST(WarpUniformControlFlow, MovesTheWorkToTheFirstThreads) {
    checkApplicable(
        id,
        between("    if (tid % 4 == 0) {\n        float sum = s[tid];\n        for "
                "(int i = 1; i < 4; ++i)\n            sum += s[tid + i];\n        "
                "s[tid] = fmaxf(sum, 0.0f); // kept\n    }\n"),
        between("    const int place = tid * 4;\n    if (place < blockDim.x) {\n        "
                "float sum = s[place];\n        for (int i = 1; i < 4; ++i)\n            "
                "sum += s[place + i];\n        s[place] = fmaxf(sum, 0.0f); // kept\n   "
                " }\n"));
}

TEST(WarpUniformControlFlow, KeepsFurtherConditions) {
    checkApplicable(
        id,
        between("    if (tid + 1 < n && (threadIdx.x & 1) == 0)\n        s[tid] += s[tid + 1];\n"),
        between("    const unsigned int place = threadIdx.x * 2;\n    if (place + 1 < n && place < "
                "blockDim.x)\n        s[place] += s[place + 1];\n"));
}

TEST(WarpUniformControlFlow, ReadsTheNegatedRemainder) {
    checkApplicable(id, between("    if (!(tid % 32))\n        s[tid] = m;\n"),
                    between("    const int place = tid * 32;\n    if (place < blockDim.x)\n        "
                            "s[place] = m;\n"));
}

TEST(WarpUniformControlFlow, IsExactAndSaysHowManyLanesItFills) {
    const Subject subject =
        parseSubject(between("    if (tid % 8 == 0)\n        s[tid] += s[tid + 1];\n"));
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    EXPECT_EQ(offer->numerics, Numerics::Exact);
    ASSERT_TRUE(offer->gain);
    EXPECT_DOUBLE_EQ(offer->gain->factor, 8.0);
    EXPECT_TRUE(offer->why.contains("leaves lanes of every warp idle")) << offer->why;
    EXPECT_TRUE(offer->gain->basis.starts_with("one of 8 lanes works")) << offer->gain->basis;
}

TEST(WarpUniformControlFlow, IsAboutTheBranchAtTheCursor) {
    checkTarget(
        id,
        between("    if (tid % 2 == 0)\n        s[tid] += s[tid + 1];\n    "
                "__syncthreads();\n    if (tid % 4 == 0)\n        s[tid] += s[ti$0d + 2];\n"),
        "if (tid % 4 == 0)\n        s[tid] += s[tid + 2];");
}

class WarpUniformControlFlowIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(WarpUniformControlFlowIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, WarpUniformControlFlowIsNotOffered,
    testing::Values(
        GateCase{"NoBranch", "no-strided-branch", between("    s[tid] *= 2.0f;\n")},
        GateCase{"OtherRemainder", "no-strided-branch",
                 between("    if (tid % 2 == 1)\n        s[tid] = 0.0f;\n")},
        GateCase{"NotTheThread", "no-strided-branch",
                 between("    if ((tid + m) % 2 == 0)\n        s[tid] = 0.0f;\n")},
        GateCase{
            "Else", "has-else",
            between("    if (tid % 2 == 0)\n        s[tid] = 0.0f;\n    else\n        s[tid] = "
                    "1.0f;\n")},
        GateCase{"StrideNotKnown", "unknown-stride",
                 between("    if (tid % m == 0)\n        s[tid] = 0.0f;\n")},
        GateCase{"StrideOfOne", "unknown-stride",
                 between("    if (tid % 1 == 0)\n        s[tid] = 0.0f;\n")},
        GateCase{"Register", "uses-thread-value",
                 between("    if (tid % 2 == 0)\n        s[tid] = own;\n")},
        GateCase{"WritesARegister", "uses-thread-value",
                 between("    if (tid % 2 == 0)\n        own = s[tid];\n")},
        GateCase{"OtherAxis", "uses-thread-value",
                 between("    if (tid % 2 == 0)\n        s[tid] = threadIdx.y;\n")},
        GateCase{"UnknownCall", "call-in-branch",
                 between("    if (tid % 2 == 0)\n        s[tid] = helper(s[tid]);\n")},
        GateCase{"Atomic", "call-in-branch",
                 between("    if (tid % 2 == 0)\n        atomicAdd(&x[0], s[tid]);\n")},
        GateCase{"NoBarrierBefore", "no-barrier-around",
                 between("    if (tid % 2 == 0)\n        s[tid] += 1.0f;\n", "")},
        GateCase{"NoBarrierAfter", "no-barrier-around",
                 between("    if (tid % 2 == 0)\n        s[tid] += 1.0f;\n",
                         "    __syncthreads();\n", "")},
        GateCase{"StoreBetween", "no-barrier-around",
                 between("    s[tid] += 1.0f;\n    if (tid % 2 == 0)\n        s[tid] += 1.0f;\n")},
        GateCase{
            "LoopWithoutBarrierAtItsEnd", "no-barrier-around",
            between(
                "    for (int i = 0; i < n; ++i) {\n        if (tid % 2 == 0)\n            s[tid] "
                "+= 1.0f;\n        __syncthreads();\n        s[tid] *= 2.0f;\n    }\n")},
        GateCase{"EarlyReturn", "early-exit",
                 between("    if (tid % 2 == 0)\n        s[tid] += 1.0f;\n",
                         "    if (tid >= n)\n        return;\n    __syncthreads();\n")},
        GateCase{
            "InADivergentBranch", "divergent-around",
            between(
                "    if (tid < n) {\n        __syncthreads();\n        if (tid % 2 == 0)\n       "
                "     s[tid] += 1.0f;\n        __syncthreads();\n    }\n")},
        GateCase{
            "Break", "early-exit",
            between("    for (int i = 0; i < n; ++i) {\n        if (tid % 2 == 0)\n            "
                    "break;\n        __syncthreads();\n    }\n")},
        GateCase{"Macro", "from-macro",
                 "#define EVEN if (tid % 2 == 0)\n" + between("    EVEN s[tid] += 1.0f;\n")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
