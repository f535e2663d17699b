#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "grid-stride-loop";

TEST(GridStrideLoop, TakesAnEarlyReturnAndIndentsWhatFollows) {
    checkApplicable(id, R"(
__global__ void half(float* x, int n) {
    const int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i >= n)
        return; // nothing to do
    // Two statements.
    float v = x[i];

    x[i] = 0.5f * v;
}
)",
                    R"(
__global__ void half(float* x, int n) {
    for (long long i = threadIdx.x + blockDim.x * blockIdx.x; i < n;
         i += (long long)blockDim.x * gridDim.x) { // nothing to do
        // Two statements.
        float v = x[i];

        x[i] = 0.5f * v;
    }
}
)");
}

TEST(GridStrideLoop, KeepsTheIndexsTypeWhereItsWidthCouldShow) {
    checkApplicable(id, R"(
__device__ float f(int i) { return i; }
__global__ void fill(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = f(i);
}
)",
                    R"(
__device__ float f(int i) { return i; }
__global__ void fill(float* x, int n) {
    for (long long index = blockIdx.x * blockDim.x + threadIdx.x; index < n;
         index += (long long)blockDim.x * gridDim.x) {
        const int i = static_cast<int>(index); x[i] = f(i);
    }
}
)");
}

TEST(GridStrideLoop, StepsA64BitIndexInItsOwnType) {
    checkApplicable(id, R"(
__global__ void fill(float* x, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (n > i) {
        x[i] = 1.0f;
    }
}
)",
                    R"(
__global__ void fill(float* x, size_t n) {
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)blockDim.x * gridDim.x) {
        x[i] = 1.0f;
    }
}
)");
}

TEST(GridStrideLoop, FitsATemplateAndKeepsWhatItNeedsOutside) {
    checkApplicable(id, R"(
template <typename T>
__global__ void axpy(T a, const T* x, T* y, int n) {
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + tid;
    if (i < n) {
        y[i] += a * x[i];
    }
}
)",
                    R"(
template <typename T>
__global__ void axpy(T a, const T* x, T* y, int n) {
    int tid = threadIdx.x;
    for (long long i = blockIdx.x * blockDim.x + tid; i < n;
         i += (long long)blockDim.x * gridDim.x) {
        y[i] += a * x[i];
    }
}
)");
}

TEST(GridStrideLoop, IsAboutTheBoundsCheck) {
    checkTarget(id, R"(
__global__ void k(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i]$0 = 0;
}
)",
                "if (i < n) x[i] = 0;");
}

TEST(GridStrideLoop, IsExact) {
    EXPECT_EQ(offeredNumerics(id, readSource("skills/grid-stride-loop/before.cu")),
              Numerics::Exact);
}

/// `body` in a kernel with the usual index `i`.
std::string kernelWith(const std::string& body, const std::string& before = "") {
    return "__device__ int counter;\n__global__ void k(float* x, int* flags, int n, int m) {\n" +
           before + "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" + body + "}\n";
}

class GridStrideLoopIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(GridStrideLoopIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, GridStrideLoopIsNotOffered,
    testing::Values(
        GateCase{"Barrier", "barrier",
                 kernelWith("    if (i < n) { x[i] = 0; __syncthreads(); }\n")},
        GateCase{"BarrierBeforeWork", "work-before-guard",
                 kernelWith("    __syncthreads();\n    if (i < n) x[i] = 0;\n")},
        GateCase{"Shuffle", "warp-operation",
                 kernelWith("    if (i < n) x[i] = __shfl_down_sync(~0u, x[i], 1);\n")},
        GateCase{"Shared", "shared-memory",
                 kernelWith("    if (i < n) { s[0] = x[i]; x[i] = s[0]; }\n",
                            "    __shared__ float s[1];\n")},
        GateCase{"ReturnInside", "early-exit",
                 kernelWith("    if (i < n) { if (flags[i]) return; x[i] = 0; }\n")},
        GateCase{"SecondReturn", "early-exit",
                 kernelWith("    if (i >= n) return;\n    if (flags[i]) return;\n    x[i] = 0;\n")},
        GateCase{"UsesBlockIndex", "uses-thread-position",
                 kernelWith("    if (i < n) x[i] = blockIdx.x;\n")},
        GateCase{"UsesThreadIndexVariable", "uses-thread-position",
                 kernelWith("    if (i < n) { int t = threadIdx.x; x[i] = t; }\n")},
        GateCase{"WorkAfterGuard", "work-after-guard",
                 kernelWith("    if (i < n) x[i] = 0;\n    flags[0] = 1;\n")},
        GateCase{"Else", "compound-guard",
                 kernelWith("    if (i < n) x[i] = 0; else flags[0] = 1;\n")},
        GateCase{"TwoConditions", "compound-guard",
                 kernelWith("    if (i < n && flags[i]) x[i] = 0;\n")},
        GateCase{"LessOrEqual", "compound-guard", kernelWith("    if (i <= n) x[i] = 0;\n")},
        GateCase{"LimitIsLoaded", "compound-guard",
                 kernelWith("    if (i < flags[0]) x[i] = 0;\n")},
        GateCase{"LimitChanges", "compound-guard",
                 kernelWith("    if (i < m) { x[i] = 0; }\n", "    m = m * 2;\n")},
        GateCase{"NoGuard", "no-bounds-guard", kernelWith("    x[i] = 0;\n")},
        GateCase{"IndexChanges", "no-flat-index",
                 kernelWith("    if (i < n) { x[i] = 0; i++; }\n")},
        GateCase{"IndexUsedBefore", "index-used-outside-guard",
                 kernelWith("    int row = i / m;\n    if (i < n) x[i] = row;\n")},
        GateCase{"OuterVariable", "writes-outer-variable",
                 kernelWith("    if (i < n) { total += x[i]; x[i] = total; }\n",
                            "    float total = 0;\n")},
        GateCase{"BlockOnly", "no-flat-index", R"(
__global__ void k(float* x, int n) {
    int i = threadIdx.x;
    if (i < n) x[i] = 0;
}
)"},
        GateCase{"TwoDimensional", "two-dimensional", R"(
__global__ void k(float* x, int w, int h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < w) x[j * w + i] = 0;
}
)"},
        GateCase{"Already", "already-grid-stride", R"(
__global__ void k(float* x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) x[i] = 0;
}
)"},
        GateCase{"AlreadyWithStrideVariable", "already-grid-stride", R"(
__global__ void k(float* x, int n) {
    int start = blockIdx.x * blockDim.x + threadIdx.x;
    int stride = gridDim.x * blockDim.x;
    for (int i = start; i < n; i += stride) x[i] = 0;
}
)"},
        GateCase{"GuardFromMacro", "compound-guard", R"(
#define GUARD(i, n) if ((i) >= (n)) return
__global__ void k(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    GUARD(i, n);
    x[i] = 0;
}
)"},
        GateCase{"KernelFromMacro", "kernel-from-macro", R"(
#define KERNEL(name) __global__ void name(float* x, int n) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 0; }
KERNEL(k)
)"}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
