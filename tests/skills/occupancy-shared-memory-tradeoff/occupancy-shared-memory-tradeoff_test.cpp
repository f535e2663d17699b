#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "occupancy-shared-memory-tradeoff";

const std::string arrays = "    __shared__ float a[4096];\n    __shared__ float b[1024]; // sums\n";
const std::string phaseA = "    a[i] = x[i];\n    __syncthreads();\n    float v = a[i ^ 1];\n";
const std::string barrier = "    __syncthreads();\n";
const std::string phaseB = "    b[i] = v;\n    __syncthreads();\n    x[i] = b[i ^ 3];\n";

std::string kernel(const std::string& body) {
    return "__device__ void note(float* p) { *p = 1.0f; }\n__global__ void k(float* x, int n) {\n" +
           std::string("    int i = threadIdx.x;\n") + body + "}\n";
}

/// 20 KB and more, in blocks of 64 threads: shared memory keeps the 11th block out.
const CompiledKernel full = compiledAs(32, 64, 20'480);

TEST(OccupancySharedMemoryTradeoff, UsesTheBarrierThatIsThere) {
    checkApplicable(id, kernel(arrays + phaseA + barrier + phaseB),
                    kernel("    __shared__ float a[4096];\n    float (&b)[1024] = "
                           "reinterpret_cast<float (&)[1024]>(a); // sums\n" +
                           phaseA + barrier + phaseB),
                    full);
}

TEST(OccupancySharedMemoryTradeoff, AddsABarrier) {
    checkApplicable(id,
                    kernel(arrays + phaseA +
                           "    #pragma unroll 2\n    for (int j = 0; j < 2; "
                           "++j)\n        b[i + 64 * j] = v;\n"),
                    kernel("    __shared__ float a[4096];\n    float (&b)[1024] = "
                           "reinterpret_cast<float (&)[1024]>(a); // sums\n" +
                           phaseA +
                           "    __syncthreads(); // The values of a are not needed any more.\n"
                           "    #pragma unroll 2\n    for (int j = 0; j < 2; ++j)\n        b[i + "
                           "64 * j] = v;\n"),
                    full);
}

TEST(OccupancySharedMemoryTradeoff, TakesTheBarrierAtTheEndOfEachRound) {
    const std::string loop = "    float v = 0;\n    for (int j = 0; j < n; ++j) {\n        a[i] = "
                             "x[i];\n        __syncthreads();\n        v += a[i ^ 1];\n        "
                             "__syncthreads();\n    }\n";
    const std::string text = appliedText(id, kernel(arrays + loop + phaseB), full);
    EXPECT_TRUE(text.contains("(&b)[1024]")) << text;
    EXPECT_FALSE(text.contains("not needed any more")) << text;
}

TEST(OccupancySharedMemoryTradeoff, MovesTheSmallerOneBehindTheLargerOne) {
    const std::string text = appliedText(
        id,
        kernel("    static __shared__ unsigned int b[16][64]; // sums\n    __shared__ unsigned "
               "int a[2][2048];\n    b[1][i] = i;\n    __syncthreads();\n    unsigned v = b[1][i ^ "
               "1];\n    __syncthreads();\n    atomicAdd(&a[1][i], v);\n    x[i] = a[1][i];\n"),
        full);
    EXPECT_TRUE(
        text.contains("    __shared__ unsigned int a[2][2048];\n    unsigned int (&b)[16][64] = "
                      "reinterpret_cast<unsigned int (&)[16][64]>(a); // sums\n    b[1][i] = i;\n"))
        << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(OccupancySharedMemoryTradeoff, SaysWhatItFollowsFrom) {
    Subject subject = parseSubject(kernel(arrays + phaseA + barrier + phaseB));
    subject.compiled = full;
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    EXPECT_EQ(offer->why, "a is not needed any more when b is written first; 20480 bytes of shared "
                          "memory a block leave room for 10 blocks of 64 threads on sm_90, 31 % of "
                          "its warps, and 4096 fewer for 13, 41 %");
    ASSERT_TRUE(offer->gain);
    EXPECT_DOUBLE_EQ(offer->gain->factor, 1.3);
    EXPECT_EQ(offer->numerics, Numerics::Exact);
}

class OccupancySharedMemoryTradeoffIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(OccupancySharedMemoryTradeoffIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate, GetParam().compiled);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, OccupancySharedMemoryTradeoffIsNotOffered,
    testing::Values(
        GateCase{"NobodyAsked", "needs-compiled-facts", kernel(arrays + phaseA + phaseB)},
        GateCase{"EnoughWarps", "enough-warps", kernel(arrays + phaseA + phaseB),
                 compiledAs(32, 256, 20'480)},
        GateCase{"Registers", "shared-memory-does-not-limit", kernel(arrays + phaseA + phaseB),
                 compiledAs(128, 256, 20'480)},
        GateCase{"OneArray", "one-shared-array", kernel("    __shared__ float a[4096];\n" + phaseA),
                 full},
        GateCase{"Dynamic", "one-shared-array",
                 kernel("    extern __shared__ float a[];\n    __shared__ float b[64];\n" + phaseA +
                        phaseB),
                 full},
        GateCase{"OtherType", "element-types-differ",
                 kernel("    __shared__ float a[4096];\n    __shared__ int b[1024];\n" + phaseA +
                        barrier + phaseB),
                 full},
        GateCase{"Together", "used-together",
                 kernel(arrays + phaseA + barrier + phaseB + "    x[i] += a[i];\n"), full},
        GateCase{"OneStatement", "used-together",
                 kernel(arrays + "    a[i] = x[i];\n    b[i] = a[i];\n    x[i] = b[i];\n"), full},
        GateCase{"Passed", "pointer-kept",
                 kernel(arrays + phaseA + barrier + phaseB + "    note(b);\n"), full},
        GateCase{"Pointer", "pointer-kept",
                 kernel(arrays + "    float* p = &a[i];\n" + phaseA + barrier + phaseB), full},
        GateCase{"Row", "pointer-kept",
                 kernel("    __shared__ float a[4][1024];\n    __shared__ float b[1024];\n    "
                        "float* row = a[1];\n    row[i] = x[i];\n    float v = row[i];\n" +
                        barrier + phaseB),
                 full},
        GateCase{"ThreadsLeave", "early-exit",
                 kernel(arrays +
                        "    if (i >= n)\n        return;\n    a[i] = x[i];\n    float v = "
                        "a[i];\n    b[i] = v;\n"),
                 full},
        GateCase{"Aligned", "several-declarations",
                 kernel("    __shared__ float a[4096];\n    __shared__ __align__(16) float "
                        "b[1024];\n" +
                        phaseA + barrier + phaseB),
                 full},
        GateCase{"TwoInOne", "several-declarations",
                 kernel("    __shared__ float a[4096], b[1024];\n" + phaseA + barrier + phaseB),
                 full}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
