// What a kernel leaves in variables of its file is a result as well.
#include "tests/engine/review/review_fixture.h"

#include <gmock/gmock.h>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

using DeviceVariablesTest = kernelskill::testing::ReviewFixture;

const std::string counting = R"(
__device__ int changed;
__device__ float scratch[64];
__device__ float last;
__global__ void k(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (x[i] > 0)
        atomicAdd(&changed, 1);
    scratch[threadIdx.x % 32] = 1.0f;
    if (i == n - 1)
        last = 2 * x[i];
    y[i] = 3 * x[i];
}
int main() {
    float *x, *y;
    int moved = 0;
    float end = 0;
    cudaMalloc(&x, 4096);
    cudaMalloc(&y, 4096);
    cudaMemcpyToSymbol(changed, &moved, sizeof(int));
    k<<<8, 128>>>(x, y, 1024);
    cudaMemcpyFromSymbol(&moved, changed, sizeof(int));
    cudaMemcpyFromSymbol(&end, last, sizeof(float));
}
)";

TEST_F(DeviceVariablesTest, AnotherResultInAVariableIsRefused) {
    for (const auto& [from, to] : {std::pair{"atomicAdd(&changed, 1)", "atomicAdd(&changed, 2)"},
                                   {"atomicAdd(&changed, 1)", "atomicSub(&changed, 1)"},
                                   {"atomicAdd(&changed, 1)", ""},
                                   {"last = 2 * x[i];", "last = 2.0001f * x[i];"},
                                   {"last = 2 * x[i];", "y[i] = 0;"}}) {
        const Verdict verdict = review(counting, from, to);
        EXPECT_EQ(verdict.status, VerdictStatus::Incorrect) << from << ": " << report(verdict);
        EXPECT_TRUE(verdict.isAboutEdit);
    }
    EXPECT_THAT(review(counting, "changed, 1", "changed, 2").summary, HasSubstr("changed[0] is"));
}

TEST_F(DeviceVariablesTest, TheSameResultInAVariableIsAccepted) {
    for (const auto& [from, to] : {std::pair{"2 * x[i]", "x[i] + x[i]"},
                                   {"if (x[i] > 0)", "if (!(x[i] <= 0) && x[i] == x[i])"}}) {
        const Verdict verdict = review(counting, from, to);
        EXPECT_TRUE(isAccepted(verdict)) << report(verdict);
    }
}

TEST_F(DeviceVariablesTest, ScratchMemoryThatNothingElseReadsIsNoResult) {
    const Verdict other = review(counting, "threadIdx.x % 32] = 1", "threadIdx.x % 64] = 2");
    EXPECT_TRUE(isAccepted(other)) << report(other);
    const std::string text = R"(
__device__ float sums[64];
__global__ void k(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (threadIdx.x == 0)
        sums[blockIdx.x] = x[i];
    y[i] = 3 * x[i];
}
int main() {
    float *x, *y;
    cudaMalloc(&x, 4096);
    cudaMalloc(&y, 4096);
    k<<<8, 128>>>(x, y, 1024);
}
)";
    const Verdict without =
        review(text, "    if (threadIdx.x == 0)\n        sums[blockIdx.x] = x[i];\n", "");
    EXPECT_TRUE(isAccepted(without)) << report(without);
}

TEST_F(DeviceVariablesTest, StateForTheNextLaunchIsAResult) {
    const std::string text = R"(
__device__ unsigned tickets = 0;
__global__ void k(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 3 * x[i];
    if (threadIdx.x == 0 && atomicInc(&tickets, gridDim.x) == gridDim.x - 1)
        tickets = 0;
}
int main() {
    float *x, *y;
    cudaMalloc(&x, 4096);
    cudaMalloc(&y, 4096);
    k<<<8, 128>>>(x, y, 1024);
}
)";
    const Verdict verdict = review(text, "tickets = 0;\n}\nint", "y[0] += 0;\n}\nint");
    EXPECT_FALSE(isAccepted(verdict)) << report(verdict);
}

} // namespace
} // namespace kernelskill::engine
