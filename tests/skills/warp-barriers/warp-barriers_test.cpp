#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "warp-barriers";

TEST(WarpBarriers, ReplacesEveryBarrierOfABlockAndLeavesTheOthers) {
    checkApplicable(id, R"(
#define SIDE 16
__global__ void factor(float* a, int width) {
    __shared__ float tile[SIDE][SIDE];
    for (int i = 0; i < SIDE; ++i)
        tile[i][threadIdx.x] = a[i * width + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < SIDE - 1; ++i) {
        if (threadIdx.x > i)
            tile[threadIdx.x][i] /= tile[i][i];
        __syncthreads(); // The column.
        __syncwarp();
        if (threadIdx.x > i)
            for (int j = i + 1; j < SIDE; ++j)
                tile[threadIdx.x][j] -= tile[threadIdx.x][i] * tile[i][j];
        __syncthreads();
    }
    __threadfence();
    a[threadIdx.x] = tile[0][threadIdx.x];
}
void run(float* a, int width) {
    factor<<<1, SIDE>>>(a, width);
    factor<<<1, dim3(8, 2)>>>(a, width);
}
)",
                    R"(
#define SIDE 16
__global__ void factor(float* a, int width) {
    __shared__ float tile[SIDE][SIDE];
    for (int i = 0; i < SIDE; ++i)
        tile[i][threadIdx.x] = a[i * width + threadIdx.x];
    __syncwarp();
    for (int i = 0; i < SIDE - 1; ++i) {
        if (threadIdx.x > i)
            tile[threadIdx.x][i] /= tile[i][i];
        __syncwarp(); // The column.
        __syncwarp();
        if (threadIdx.x > i)
            for (int j = i + 1; j < SIDE; ++j)
                tile[threadIdx.x][j] -= tile[threadIdx.x][i] * tile[i][j];
        __syncwarp();
    }
    __threadfence();
    a[threadIdx.x] = tile[0][threadIdx.x];
}
void run(float* a, int width) {
    factor<<<1, SIDE>>>(a, width);
    factor<<<1, dim3(8, 2)>>>(a, width);
}
)");
}

class WarpBarriersGates : public testing::TestWithParam<GateCase> {};

TEST_P(WarpBarriersGates, Refuse) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

/// A kernel that turns 32 elements around behind `meeting`, and what launches it.
std::string turned(const std::string& meeting, const std::string& launch = "n, 32",
                   const std::string& ahead = "") {
    return ahead +
           "\n__global__ void k(float* x, int n) {\n__shared__ float s[32];\n"
           "s[threadIdx.x] = x[threadIdx.x];\n" +
           meeting +
           "\nx[threadIdx.x] = s[31 - threadIdx.x];\n}\nvoid run(float* x, int n) {\nk<<<" +
           launch + ">>>(x, n);\n}\n";
}

INSTANTIATE_TEST_SUITE_P(
    All, WarpBarriersGates,
    testing::Values(GateCase{"NoBarrier", "no-barrier", turned("")},
                    GateCase{"ABarrierOfTheWarp", "no-barrier", turned("__syncwarp();")},
                    GateCase{"UnknownBlock", "unknown-block", turned("__syncthreads();", "1, n")},
                    GateCase{"SeveralWarps", "several-warps", turned("__syncthreads();", "n, 64")},
                    GateCase{"SeveralWarpsInAnotherLaunch", "several-warps",
                             turned("__syncthreads();") +
                                 "void again(float* x) { k<<<1, 64>>>(x, 1); }\n"},
                    GateCase{"ABarrierThatCounts", "barrier-form",
                             turned("x[n] = __syncthreads_count(n > 0);")},
                    GateCase{"ABarrierInAMacro", "barrier-form",
                             turned("MEET", "n, 32", "#define MEET __syncthreads();")}),
    [](const auto& tested) { return tested.param.name; });

} // namespace
} // namespace kernelskill::skills
