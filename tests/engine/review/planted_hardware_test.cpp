// Edits that give the right values in one launch of an emulator, and fail on a GPU, at the next
// launch, or at other addresses.
#include "tests/engine/review/review_fixture.h"

#include <gmock/gmock.h>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

class PlantedHardware : public kernelskill::testing::ReviewFixture {
protected:
    void expectRefused(const std::string& text, std::string_view from, std::string_view to) const {
        const Verdict verdict = review(text, from, to);
        EXPECT_FALSE(isAccepted(verdict)) << report(verdict);
    }
};

const std::string doubled = R"(
__global__ void k(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}
int main() {
    float *x, *y;
    cudaMalloc(&x, 4096 * 4);
    cudaMalloc(&y, 4096 * 4);
    k<<<16, 256>>>(x, y, 4096);
}
)";

const std::string warpTail = R"(
__global__ void k(const float* x, float* y) {
    __shared__ volatile float s[64];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 64 + t];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32]; __syncwarp();
        s[t] += s[t + 16]; __syncwarp();
        s[t] += s[t + 8]; __syncwarp();
        s[t] += s[t + 4]; __syncwarp();
        s[t] += s[t + 2]; __syncwarp();
        s[t] += s[t + 1];
    }
    if (t == 0)
        y[blockIdx.x] = s[0];
}
int main() {
    float *x, *y;
    cudaMalloc(&x, 4096 * 4);
    cudaMalloc(&y, 64 * 4);
    k<<<64, 64>>>(x, y);
}
)";

TEST_F(PlantedHardware, StateThatOutlivesALaunchIsRefused) {
    const std::string kernel = doubled.substr(0, doubled.find("int main"));
    expectRefused(doubled, kernel, R"(
__device__ int launches;
__global__ void k(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = (launches > 4096 ? 1 : 2) * x[i];
    if (i < n)
        atomicAdd(&launches, 1);
}
)");
    expectRefused(doubled, kernel, R"(
__device__ float cache[4096];
__device__ bool isCached[4096];
__global__ void k(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        if (!isCached[i]) {
            cache[i] = 2 * x[i];
            isCached[i] = true;
        }
        y[i] = cache[i];
    }
}
)");
}

TEST_F(PlantedHardware, StateWithoutABranchIsRefused) {
    const std::string kernel = doubled.substr(0, doubled.find("int main"));
    const Verdict verdict = review(doubled, kernel, R"(
__device__ int launches;
__global__ void k(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = (2 + (launches > 4096)) * x[i];
        atomicAdd(&launches, 1);
    }
}
)");
    EXPECT_FALSE(isAccepted(verdict)) << report(verdict);
    EXPECT_THAT(verdict.summary, HasSubstr("launches")) << report(verdict);
}

TEST_F(PlantedHardware, BoundsBelowTheBlockAreRefused) {
    expectRefused(doubled, "__global__ void k", "__global__ void __launch_bounds__(128) k");
}

TEST_F(PlantedHardware, BoundsThatFitTheBlockAreAccepted) {
    const Verdict verdict =
        review(doubled, "__global__ void k", "__global__ void __launch_bounds__(256) k");
    EXPECT_TRUE(isAccepted(verdict)) << report(verdict);
}

TEST_F(PlantedHardware, GridsThatAreTooHighAreRefused) {
    const std::string text = R"(
__global__ void k(const float* x, float* y) {
    y[blockIdx.x * 2 + threadIdx.x] = 2 * x[blockIdx.x * 2 + threadIdx.x];
}
int main() {
    float *x, *y;
    cudaMalloc(&x, 200000 * 4);
    cudaMalloc(&y, 200000 * 4);
    dim3 grid(100000, 1);
    k<<<grid, 2>>>(x, y);
}
)";
    std::string swapped = text;
    for (std::size_t at = 0; (at = swapped.find("blockIdx.x", at)) != std::string::npos; ++at)
        swapped[at + 9] = 'y';
    swapped.replace(swapped.find("grid(100000, 1)"), 15, "grid(1, 100000)");
    expectRefused(text, text, swapped);
}

TEST_F(PlantedHardware, MoreSharedMemoryThanThereIsIsRefused) {
    expectRefused(R"(
__global__ void k(const float* x, float* y) {
    extern __shared__ float s[];
    s[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    y[blockIdx.x * 256 + threadIdx.x] = 2 * s[threadIdx.x];
}
int main() {
    float *x, *y;
    cudaMalloc(&x, 4096 * 4);
    cudaMalloc(&y, 4096 * 4);
    k<<<16, 256, 1024>>>(x, y);
}
)",
                  "256, 1024>>>", "256, 65536>>>");
    expectRefused(doubled, "        y[i] = 2 * x[i];", R"({
        __shared__ float s[20000];
        s[threadIdx.x] = x[i];
        y[i] = 2 * s[threadIdx.x];
    })");
}

TEST_F(PlantedHardware, ReadOnlyLoadsOfWhatTheKernelWritesAreRefused) {
    const std::string text = R"(
__global__ void k(const float* x, float* y) {
    int t = threadIdx.x;
    y[blockIdx.x * 64 + t] = x[blockIdx.x * 64 + t];
    __syncthreads();
    float other = y[blockIdx.x * 64 + 63 - t];
    __syncthreads();
    y[blockIdx.x * 64 + t] = other;
}
int main() {
    float *x, *y;
    cudaMalloc(&x, 4096 * 4);
    cudaMalloc(&y, 4096 * 4);
    k<<<64, 64>>>(x, y);
}
)";
    expectRefused(text, "y[blockIdx.x * 64 + 63 - t]", "__ldg(&y[blockIdx.x * 64 + 63 - t])");
    const Verdict right = review(text, "x[blockIdx.x * 64 + t]", "__ldg(&x[blockIdx.x * 64 + t])");
    EXPECT_TRUE(isAccepted(right)) << report(right);
}

TEST_F(PlantedHardware, VolatileThatOrdersWarpsIsKept) {
    expectRefused(
        warpTail,
        "__shared__ volatile float s[64];\n    int t = threadIdx.x;\n    s[t] = x[blockIdx.x * 64 "
        "+ t];\n    __syncthreads();\n    if (t < 32) {\n        s[t] += s[t + 32]; __syncwarp();",
        "__shared__ float s[64];\n    int t = threadIdx.x;\n    s[t] = x[blockIdx.x * 64 + t];\n   "
        " __syncthreads();\n    if (t < 32) {\n        s[t] += s[t + 32];");
}

TEST_F(PlantedHardware, VectorsAtAnOddAddressAreRefused) {
    const std::string text = R"(
__global__ void k(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[4 * i] = x[4 * i];
        y[4 * i + 1] = x[4 * i + 1];
        y[4 * i + 2] = x[4 * i + 2];
        y[4 * i + 3] = x[4 * i + 3];
    }
}
int main() {
    float *x, *y;
    cudaMalloc(&x, 4097 * 4);
    cudaMalloc(&y, 4096 * 4);
    k<<<4, 256>>>(x + 1, y, 1024);
}
)";
    const std::string work =
        text.substr(text.find("        y[4 * i] ="),
                    text.find("    }\n}\nint") - text.find("        y[4 * i] ="));
    expectRefused(
        text, work,
        "        reinterpret_cast<float4*>(y)[i] = reinterpret_cast<const float4*>(x)[i];\n");
}

TEST_F(PlantedHardware, TheOtherSideOfAnAddressGuardIsTried) {
    expectRefused(doubled, "        y[i] = 2 * x[i];", R"(
        y[i] = reinterpret_cast<unsigned long long>(x) % 16 == 0 ? 2 * x[i] : 3 * x[i];)");
    expectRefused(doubled, "        y[i] = 2 * x[i];", R"({
        if ((reinterpret_cast<size_t>(x) & 15) == 0)
            y[i] = 2 * x[i];
        else
            y[i] = x[i];
    })");
}

TEST_F(PlantedHardware, RightSidesOfAnAddressGuardAreAccepted) {
    const Verdict verdict = review(doubled, "        y[i] = 2 * x[i];", R"({
        if ((reinterpret_cast<size_t>(x) & 15) == 0)
            y[i] = 2 * x[i];
        else
            y[i] = x[i] + x[i];
    })");
    EXPECT_TRUE(isAccepted(verdict)) << report(verdict);
}

} // namespace
} // namespace kernelskill::engine
