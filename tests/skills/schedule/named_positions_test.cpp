/// Positions that stand in a kernel again and again, before and after.
#include "skills/schedule/named_positions.h"
#include "tests/skills/schedule/rewritten_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelskill::skills {
namespace {

std::string namedText(const std::string& source) {
    return rewrittenText(namedPositions, source);
}

TEST(NamedPositions, OfAPlane) {
    EXPECT_EQ(namedText(R"(__global__ void k(const float* x, float* y, int m, int n) {
    if ((blockIdx.y * blockDim.y + threadIdx.y) < m && blockIdx.x * blockDim.x + threadIdx.x < n)
        y[((blockIdx.y * blockDim.y + threadIdx.y)) * n + (threadIdx.x + blockDim.x * blockIdx.x)] =
            abs(blockIdx.x * blockDim.x + threadIdx.x);
}
)"),
              R"(__global__ void k(const float* x, float* y, int m, int n) {
    const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && column < n)
        y[row * n + column] =
            abs(column);
}
)");
}

TEST(NamedPositions, LeavesOthers) {
    const std::vector<std::string> kernels = {
        // A variable holds the position already.
        "__global__ void k(float* y, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (blockIdx.x * blockDim.x + threadIdx.x < n)\n        y[i] = 0.0f;\n}\n",
        // The kernel computes the position once.
        "__global__ void k(float* y, int n) {\n    y[blockIdx.x * blockDim.x + threadIdx.x] = "
        "0.0f;\n}\n",
        // The two sums have different types.
        "__global__ void k(float* y, int n) {\n    if (blockIdx.x * blockDim.x + threadIdx.x < n)\n"
        "        y[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = 0.0f;\n}\n",
    };
    for (const std::string& kernel : kernels)
        EXPECT_EQ(namedText(kernel), kernel);
}

TEST(NamedPositions, StandBehindACommentOfTheFirstLine) {
    const std::string head = "__global__ void k(float* y, int n) { // elements\n";
    EXPECT_EQ(namedText(head + "    if (blockIdx.x * blockDim.x + threadIdx.x < n)\n"
                               "        y[blockIdx.x * blockDim.x + threadIdx.x] = 0.0f;\n}\n"),
              head + "    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                     "    if (i < n)\n        y[i] = 0.0f;\n}\n");
}

} // namespace
} // namespace kernelskill::skills
