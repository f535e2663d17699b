#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "row-per-block";

std::string kernel(const std::string& body, const std::string& grid = "2",
                   const std::string& block = "128") {
    return "__global__ void k(const float* a, float* c, int m, int n) {\n" + body +
           "}\nvoid run(int m, int n) {\n    float *a, *c;\n    cudaMalloc(&a, n);\n"
           "    cudaMalloc(&c, n);\n    k<<<" +
           grid + ", " + block + ">>>(a, c, m, n);\n}\n";
}

const std::string index = "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n";

TEST(RowPerBlock, GivesTheOneRowOfAGridToABlock) {
    checkApplicable(id,
                    kernel(index + "    if (i == 0) {\n        float sum = 0;\n        int j;\n"
                                   "        for (j = 0; j < n; j++)\n"
                                   "            sum += a[j * m] * a[j * m];\n"
                                   "        c[0] = sqrtf(sum);\n    }\n",
                           "1"),
                    kernel("    __shared__ float partialSum[32];\n"
                           "    int i = blockIdx.x;\n"
                           "    if (i == 0) {\n        float sum = 0;\n        int j;\n"
                           "        for (j = threadIdx.x; j < n; j += blockDim.x)\n"
                           "            sum += a[j * m] * a[j * m];\n"
                           "        for (int offset = 16; offset > 0; offset /= 2)\n"
                           "            sum += __shfl_xor_sync(0xffffffff, sum, offset);\n"
                           "        if (threadIdx.x % 32 == 0)\n"
                           "            partialSum[threadIdx.x / 32] = sum;\n"
                           "        __syncthreads();\n"
                           "        sum = partialSum[0];\n"
                           "        for (int warp = 1; warp < blockDim.x / 32; ++warp)\n"
                           "            sum += partialSum[warp];\n"
                           "        if (threadIdx.x == 0)\n"
                           "            c[0] = sqrtf(sum);\n    }\n",
                           "1 * 128"));
}

TEST(RowPerBlock, FollowsLoopsAroundAndFlatIndices) {
    const std::string text = appliedText(
        id, kernel("    size_t i = threadIdx.x + (blockIdx.x + blockIdx.y * gridDim.x) * "
                   "blockDim.x;\n    if (i >= m) return;\n    float x = 1;\n"
                   "    for (int r = 0; r < 4; ++r) {\n        float most = 0;\n"
                   "        for (int j = 0; j < n; ++j)\n"
                   "            most = fmaxf(most, a[i * n + j] * x);\n"
                   "        x = x / most;\n    }\n    c[i] = x;\n",
                   "dim3(2, 2)"));
    EXPECT_TRUE(text.contains("    size_t i = blockIdx.x + blockIdx.y * gridDim.x;\n")) << text;
    EXPECT_TRUE(text.contains("        __syncthreads();\n        if (threadIdx.x % 32 == 0)\n"
                              "            partialMost[threadIdx.x / 32] = most;\n"
                              "        __syncthreads();\n"))
        << text;
    EXPECT_TRUE(text.contains("            most = fmaxf(most, partialMost[warp]);\n")) << text;
    EXPECT_TRUE(text.contains("k<<<dim3(2 * 128, 2), 128>>>")) << text;
}

TEST(RowPerBlock, FoldsPlacesOfExtremesAndIntegers) {
    const std::string text = appliedText(
        id, kernel("    int i = blockIdx.x * 128 + threadIdx.x;\n    int found = 0, count = 0;\n"
                   "    double most = a[i * n];\n    for (int j = 1; j < n; ++j) {\n"
                   "        if (a[i * n + j] > most) {\n            most = a[i * n + j];\n"
                   "            found = j;\n        }\n        if (a[i * n + j] > 0) ++count;\n"
                   "    }\n    c[i] = found + count;\n"));
    EXPECT_TRUE(text.contains("    int i = blockIdx.x;\n")) << text;
    EXPECT_TRUE(text.contains("    __shared__ int partialCount[32];\n"
                              "    __shared__ double partialMost[32];\n"
                              "    __shared__ int partialFound[32];\n"))
        << text;
    EXPECT_TRUE(text.contains("    if (threadIdx.x == 0)\n        c[i] = found + count;\n"))
        << text;
}

TEST(RowPerBlock, IsATrialWhereRowsAreNotCounted) {
    const std::string source =
        kernel(index + "    if (i >= m) return;\n    float sum = 0;\n"
                       "    for (int j = 0; j < n; ++j)\n        sum += a[i * n + j];\n"
                       "    c[i] = sum;\n",
               "(m + 127) / 128");
    const Subject subject = parseSubject(source);
    EXPECT_EQ(skillNamed(id).prepare(subject.context()).error().gate, "unknown-rows");
    EXPECT_EQ(skillNamed(id).alternatives(subject.context()).size(), 1U);
}

class RowPerBlockGates : public ::testing::TestWithParam<GateCase> {};

TEST_P(RowPerBlockGates, Refuses) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

std::string walking(const std::string& position, const std::string& grid = "2",
                    const std::string& block = "128", const std::string& element = "i * n + j") {
    return kernel(position +
                      "    if (i >= m) return;\n    float sum = 0;\n"
                      "    for (int j = 0; j < n; ++j)\n        sum += a[" +
                      element + "];\n    c[i] = sum;\n",
                  grid, block);
}

INSTANTIATE_TEST_SUITE_P(
    All, RowPerBlockGates,
    ::testing::Values(
        GateCase{"Parts", "no-row-index",
                 walking("    int t = threadIdx.x;\n    int i = blockIdx.x * blockDim.x + t;\n")},
        GateCase{"FurtherAxis", "no-row-index", walking(index, "2", "dim3(32, 4)")},
        GateCase{"Other", "uses-thread-position",
                 walking("    int i = blockIdx.x * blockDim.x + 2 * threadIdx.x;\n")},
        GateCase{"PartialWarps", "partial-warps", walking(index, "2", "100")},
        GateCase{"Columns", "coalesced", walking(index, "2", "128", "j * m + i")},
        GateCase{"ManyRows", "enough-rows", walking(index, "100")}),
    [](const auto& tested) { return tested.param.name; });

} // namespace
} // namespace kernelskill::skills
