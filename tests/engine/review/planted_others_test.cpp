// Edits that are right in the kernel that they are made for, and change another one.
#include "tests/engine/review/review_fixture.h"

#include <gmock/gmock.h>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PlantedOthers : public kernelskill::testing::ReviewFixture {
protected:
    void expectRefusedFor(const std::string& other, const std::string& text, std::string_view from,
                          std::string_view to) const {
        const Verdict verdict = review(text, from, to);
        EXPECT_FALSE(isAccepted(verdict)) << report(verdict);
        EXPECT_THAT(report(verdict), HasSubstr("keeps " + other)) << report(verdict);
    }
};

std::string withShared(const std::string& function, const std::string& more = {}) {
    return more + "__device__ float f(float v) { return " + function + R"(; }
__global__ void squares(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = f(x[i] * x[i]);
}
__global__ void values(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = f(x[i]);
}
int main() {
    int n = 4000;
    float *x, *y;
    cudaMalloc(&x, n * 4);
    cudaMalloc(&y, n * 4);
    squares<<<(n + 127) / 128, 128>>>(x, y, n);
    values<<<(n + 127) / 128, 128>>>(x, y, n);
}
)";
}

TEST_F(PlantedOthers, AFunctionOfBothIsCheckedInBoth) {
    expectRefusedFor("values", withShared("fabsf(v)"), "fabsf(v)", "v");
    const Verdict right = review(withShared("2 * v"), "2 * v", "v + v");
    EXPECT_TRUE(isAccepted(right)) << report(right);
    EXPECT_THAT(report(right), HasSubstr("keeps values"));
}

TEST_F(PlantedOthers, AHostFunctionNamedLikeAParameterTiesNoKernelsTogether) {
    const std::string text = R"(
__global__ void squares(const float* x, float* loss, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        loss[i] = x[i] * x[i];
}
__global__ void values(const float* x, float* loss, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        loss[i] = 2 * x[i];
}
void loss(const float* x, float* y) {
    squares<<<40, 100>>>(x, y, 4000);
    values<<<40, 100>>>(x, y, 4000);
}
)";
    const Verdict verdict = review(text, "loss[i] = x[i] * x[i]", "loss[i] = (x[i]) * x[i]");
    EXPECT_TRUE(isAccepted(verdict)) << report(verdict);
    EXPECT_THAT(report(verdict), Not(HasSubstr("keeps values")));
}

TEST_F(PlantedOthers, AMacroOfBothIsCheckedInBoth) {
    const std::string text = withShared("v * SCALE", "#define SCALE 2\n");
    const std::string head = text.substr(0, text.find("__global__ void values"));
    std::string edited = head;
    edited.replace(edited.find("SCALE 2"), 7, "SCALE 4");
    edited.replace(edited.find("f(x[i] * x[i])"), 14, "f(x[i] * x[i]) / 2");
    expectRefusedFor("values", text, head, edited);
}

TEST_F(PlantedOthers, ABlockOfBothIsCheckedInBoth) {
    const std::string text = R"(
__global__ void twice(const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = 2 * x[i];
}
__global__ void reversed(const float* x, float* y, int n) {
    __shared__ float s[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n)
        y[i] = s[127 - threadIdx.x];
}
int main() {
    int n = 4096;
    const int threads = 128;
    float *x, *y;
    cudaMalloc(&x, n * 4);
    cudaMalloc(&y, n * 4);
    twice<<<n / threads, threads>>>(x, y, n);
    reversed<<<n / threads, threads>>>(x, y, n);
}
)";
    expectRefusedFor("reversed", text, "threads = 128", "threads = 64");
}

TEST_F(PlantedOthers, AnEditOfOneKernelAloneChecksNoOther) {
    const Verdict verdict = review(withShared("v + v"), "f(x[i] * x[i])", "f(x[i] * x[i] + 0)");
    EXPECT_THAT(report(verdict), ::testing::Not(HasSubstr("keeps values")));
}

} // namespace
} // namespace kernelskill::engine
