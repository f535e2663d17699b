#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "shared-memory-tiling";

std::string kernel(const std::string& body, const std::string& grid = "dim3(n / 16, m / 16)") {
    return "__global__ void p(const float* a, const float* b, float* c, int m, int n, int k) {\n"
           "    int i = blockIdx.y * blockDim.y + threadIdx.y;\n"
           "    int j = blockIdx.x * blockDim.x + threadIdx.x;\n" +
           body +
           "}\nvoid run(int m, int n, int k) {\n    float *a, *b, *c;\n    cudaMalloc(&a, m);\n"
           "    cudaMalloc(&b, n);\n    cudaMalloc(&c, n);\n    p<<<" +
           grid + ", dim3(16, 16)>>>(a, b, c, m, n, k);\n}\n";
}

TEST(SharedMemoryTiling, TakesKernelsWithoutAGuardAndLeavesTheGrid) {
    checkApplicable(id,
                    kernel("    float sum = 0.0f;\n"
                           "    for (int t = 0; t < k; ++t)\n"
                           "        sum += a[i * k + t] * b[t * n + j];\n"
                           "    c[i * n + j] = sum;\n"),
                    kernel("    __shared__ __align__(16) float aTile[16][20];\n"
                           "    __shared__ __align__(16) float bTile[16][16];\n"
                           "    const int thread = threadIdx.y * 16 + threadIdx.x;\n"
                           "    const int iBegin = blockIdx.y * 16;\n"
                           "    const int jBegin = blockIdx.x * 16;\n"
                           "    float sum = 0.0f;\n"
                           "    for (int t0 = 0; t0 < k; t0 += 16) {\n"
                           "        {\n"
                           "            const int i = iBegin + thread / 16;\n"
                           "            const int t = t0 + thread % 16;\n"
                           "            aTile[thread % 16][thread / 16] = t < k ? a[i * k + t] : "
                           "0;\n"
                           "        }\n"
                           "        {\n"
                           "            const int j = jBegin + thread % 16;\n"
                           "            const int t = t0 + thread / 16;\n"
                           "            bTile[thread / 16][thread % 16] = t < k ? b[t * n + j] : "
                           "0;\n"
                           "        }\n"
                           "        __syncthreads();\n"
                           "        const int tEnd = t0 + min(k - t0, 16);\n"
                           "        #pragma unroll 16\n"
                           "        for (int t = t0; t < tEnd; ++t)\n"
                           "            sum += aTile[t - t0][threadIdx.y] * bTile[t - "
                           "t0][threadIdx.x];\n"
                           "        __syncthreads();\n"
                           "    }\n"
                           "    c[i * n + j] = sum;\n"));
}

TEST(SharedMemoryTiling, LetsAllThreadsReachTheBarriers) {
    const std::string text = appliedText(id, kernel("    if (i >= m || j >= n)\n"
                                                    "        return;\n"
                                                    "    float sum = b[j];\n"
                                                    "    for (int t = 0; t < k; ++t)\n"
                                                    "        sum += a[i * k + t] * a[j * k + t];\n"
                                                    "    c[i * n + j] = sum;\n"));
    EXPECT_FALSE(text.contains("return;")) << text;
    EXPECT_TRUE(
        text.contains("    float sum = {};\n    if (i < m && j < n)\n        sum = b[j];\n"))
        << text;
    EXPECT_TRUE(text.contains("    if (i < m && j < n)\n        c[i * n + j] = sum;\n")) << text;
}

TEST(SharedMemoryTiling, RefusesRunsOfOutputs) {
    checkNotApplicable(
        id,
        "__global__ void p(const float* a, const float* b, float* c, int m, int n, int k) {\n"
        "    int id = blockIdx.x * blockDim.x + threadIdx.x;\n    if (id >= m * n) return;\n"
        "    int i = id / n;\n    int j = id % n;\n    float sum = 0;\n"
        "    for (int t = 0; t < k; ++t)\n        sum += a[i * k + t] * b[t * n + j];\n"
        "    c[id] = sum;\n}\nvoid run(float* a, float* b, float* c, int m, int n, int k) {\n"
        "    p<<<(m * n + 255) / 256, 256>>>(a, b, c, m, n, k);\n}\n",
        "flat-blocks");
}

} // namespace
} // namespace kernelskill::skills
