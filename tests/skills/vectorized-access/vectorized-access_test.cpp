#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "vectorized-access";

/// An elementwise kernel over x, y and m with `work` under the check, launched as `grid`.
std::string elementwise(const std::string& work, const std::string& grid = "(n + 255) / 256",
                        const std::string& type = "float") {
    return "__global__ void k(const " + type + "* x, " + type +
           "* y, const int* m, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) {\n" +
           work + "    }\n}\nvoid run(" + type + "* x, " + type +
           "* y, int* m, int n) {\n    dim3 blocks((n + 255) / 256);\n    k<<<" + grid +
           ", 256>>>(x, y, m, n);\n}\n";
}

TEST(VectorizedAccess, GoesInGroupsThroughAGridStrideLoopAndLeavesTheLaunch) {
    checkApplicable(id, R"(
__global__ void k(const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        y[i] = 2 * x[i];
    }
}
)",
                    R"(
__global__ void k(const float* x, float* y, int n) {
    // Groups of 4 elements first, one access of up to 16 bytes each, where the pointers allow it.
    const bool aligned = (reinterpret_cast<size_t>(x) | reinterpret_cast<size_t>(y)) % 16 == 0;
    const int groups = aligned ? n / 4 : 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < groups; i += blockDim.x * gridDim.x) {
        const float4 x4 = reinterpret_cast<const float4*>(x)[i];
        float4 y4;
        y4.x = 2 * x4.x;
        y4.y = 2 * x4.y;
        y4.z = 2 * x4.z;
        y4.w = 2 * x4.w;
        reinterpret_cast<float4*>(y)[i] = y4;
    }
    for (int i = 4 * groups + blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        y[i] = 2 * x[i];
    }
}
)");
}

TEST(VectorizedAccess, TakesAnEarlyReturnWithLocalsAndOtherUsesOfTheIndex) {
    checkApplicable(id, R"(
__global__ void k(const double* x, double* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double v = x[i]; // once
    y[i] = v * i;
}
void run(double* x, double* y, int n) { k<<<dim3((n + 63) / 64), dim3(64)>>>(x, y, n); }
)",
                    R"(
__global__ void k(const double* x, double* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // once
    // i counts groups of 2 elements: one access of up to 16 bytes each, where the pointers allow it.
    const bool aligned = (reinterpret_cast<size_t>(x) | reinterpret_cast<size_t>(y)) % 16 == 0;
    if (aligned && i < n / 2) {
        const double2 x2 = reinterpret_cast<const double2*>(x)[i];
        double2 y2;
        {
            double v = x2.x;
            y2.x = v * (2 * i);
        }
        {
            double v = x2.y;
            y2.y = v * (2 * i + 1);
        }
        reinterpret_cast<double2*>(y)[i] = y2;
    } else if (i <= n / 2) {
        for (int k = 2 * i; k < n && k - 2 * i < 2; ++k) {
            double v = x[k];
            y[k] = v * k;
        }
    }
}
void run(double* x, double* y, int n) { k<<<dim3(((n + 63) / 64 + 1) / 2), dim3(64)>>>(x, y, n); }
)");
}

TEST(VectorizedAccess, ShrinksAGridThatIsADim3) {
    const std::string text = appliedText(id, elementwise("        y[i] = x[i];\n", "blocks"));
    EXPECT_TRUE(text.contains("k<<<dim3((blocks.x + 3) / 4, blocks.y, blocks.z), 256>>>")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(VectorizedAccess, LeavesAPointerScalarThatIsReadUnderACondition) {
    const std::string text =
        appliedText(id, elementwise("        y[i] = m ? x[i] * m[i] : x[i];\n"));
    EXPECT_TRUE(text.contains("m[4 * i + 1]")) << text;
    EXPECT_FALSE(text.contains("int4")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty()) << text;
}

TEST(VectorizedAccess, TakesGridsOfTwoAxesAndConstantWidthsThatNumberThreadsThrough) {
    const auto kernel = [](const std::string& index, const std::string& grid,
                           const std::string& block) {
        return "dim3 gridOf(int n);\n__global__ void k(const float* x, float* y, int n) {\n"
               "    int i = " +
               index +
               ";\n    if (i < n) y[i] = 2 * x[i];\n}\nvoid run(float* x, float* y, int n)"
               " {\n    dim3 blocks(1, n / 256);\n    k<<<" +
               grid + ", " + block + ">>>(x, y, n);\n}\n";
    };
    const std::string rows = "(blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x";
    const std::string ofCount = appliedText(id, kernel(rows, "gridOf(n)", "256"));
    EXPECT_TRUE(ofCount.contains("int i = " + rows + ";")) << ofCount;
    EXPECT_TRUE(ofCount.contains("k<<<gridOf((n + 3) / 4), 256>>>(x, y, n)")) << ofCount;
    const std::string named = appliedText(id, kernel(rows, "blocks", "256"));
    EXPECT_TRUE(named.contains("k<<<dim3((blocks.x + 3) / 4, blocks.y, blocks.z), 256>>>"))
        << named;
    const std::string constant = "blockIdx.x * 128 + threadIdx.x";
    EXPECT_TRUE(appliedText(id, kernel(constant, "n / 128 + 1", "128")).contains("float4"));
    checkNotApplicable(id, kernel(constant, "n / 128 + 1", "256"), "no-flat-index");
    checkNotApplicable(id, kernel(rows, "gridOf(2 * n)", "256"), "launch-grid");
}

TEST(VectorizedAccess, SeesThroughReadOnlyLoads) {
    const std::string text = appliedText(id, elementwise("        y[i] = __ldg(&x[i]);\n"));
    EXPECT_TRUE(text.contains("y4.x = x4.x;")) << text;
}

TEST(VectorizedAccess, LeavesAccessesAsTheyAreThatSayHowTheyAreCached) {
    const std::string text =
        appliedText(id, elementwise("        __stcs(&y[i], x[i] * __ldcs(&m[i]));\n"));
    EXPECT_TRUE(text.contains("__stcs(&y[4 * i + 1], x4.y * __ldcs(&m[4 * i + 1]))")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty()) << text;
}

TEST(VectorizedAccess, IsExact) {
    EXPECT_EQ(offeredNumerics(id, elementwise("        y[i] = x[i];\n")), Numerics::Exact);
}

TEST(VectorizedAccess, IsAboutTheBoundsCheck) {
    checkTarget(id, elementwise("        y[i] = x[i];\n"),
                "if (i < n) {\n        y[i] = x[i];\n    }");
}

class VectorizedAccessIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(VectorizedAccessIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, VectorizedAccessIsNotOffered,
    testing::Values(
        GateCase{"Stencil", "no-unit-stride-access",
                 elementwise("        y[i + 1] = x[i - 1] + x[i];\n")},
        GateCase{"Gather", "no-unit-stride-access",
                 elementwise("        y[m[2 * i]] = x[m[2 * i]];\n")},
        GateCase{"CacheHints", "no-unit-stride-access",
                 elementwise("        __stcs(&y[i], __ldcs(&x[i]));\n")},
        GateCase{"Strided", "no-unit-stride-access", elementwise("        y[2 * i] = x[3 * i];\n")},
        GateCase{"LoadAfterStore", "load-after-store",
                 elementwise("        y[i] = 1;\n        y[i] += x[i];\n")},
        GateCase{"Atomic", "atomic", elementwise("        y[i] = x[i]; atomicAdd(y, 1.0f);\n")},
        GateCase{"LoopInWork", "loop-in-work",
                 elementwise("        for (int j = 0; j < 3; ++j) y[i] += x[i];\n")},
        GateCase{"EarlyReturn", "early-exit",
                 elementwise("        if (m[i]) return;\n        y[i] = x[i];\n")},
        GateCase{"Barrier", "barrier", elementwise("        y[i] = x[i]; __syncthreads();\n")},
        GateCase{"BlockIndexInWork", "uses-thread-position",
                 elementwise("        y[i] = x[i] + blockIdx.x;\n")},
        GateCase{"GridFromMacro", "launch-grid",
                 "#define GRID ((1 << 20) / 256)\n" +
                     elementwise("        y[i] = x[i];\n", "GRID")},
        GateCase{
            "LaunchFromMacro", "launch-from-macro",
            "#define LAUNCH(f, n, ...) f<<<(n + 255) / 256, 256>>>(__VA_ARGS__)\n__global__ void "
            "k(const float* x, float* y, int n) {\n    int i = blockIdx.x * blockDim.x + "
            "threadIdx.x;\n    if (i < n) y[i] = x[i];\n}\nvoid run(float* x, float* y, int n) { "
            "LAUNCH(k, n, x, y, n); }\n"},
        GateCase{"FunctionPointer", "kernel-named-elsewhere",
                 elementwise("        y[i] = x[i];\n") +
                     "void (*pointer)(const float*, float*, const int*, int) = k;\n"},
        GateCase{
            "LaunchByName", "kernel-named-elsewhere",
            elementwise("        y[i] = x[i];\n") +
                "void other(void** a) { cudaLaunchKernel((const void*)k, dim3(1), dim3(1), a, 0, "
                "0); }\n"},
        GateCase{"NoLaunch", "no-launch",
                 "__global__ void k(const float* x, float* y, int n) {\n    int i = blockIdx.x * "
                 "blockDim.x + threadIdx.x;\n    if (i < n) y[i] = x[i];\n}\n"},
        GateCase{"AlreadyVectors", "already-vectorized",
                 "__global__ void k(const float4* x, float4* y, int n) {\n    int i = blockIdx.x * "
                 "blockDim.x + threadIdx.x;\n    if (i < n) y[i] = x[i];\n}\n"},
        GateCase{"DependentElements", "no-unit-stride-access",
                 "template <typename T> __global__ void k(const T* x, T* y, int n) {\n    int i = "
                 "blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = x[i];\n}\nvoid "
                 "run(float* x, float* y, int n) { k<float><<<n, 1>>>(x, y, n); }\n"},
        GateCase{
            "Volatile", "no-unit-stride-access",
            "__global__ void k(volatile float* y, int n) {\n    int i = blockIdx.x * blockDim.x + "
            "threadIdx.x;\n    if (i < n) y[i] = 1;\n}\nvoid run(float* y, int n) { k<<<n, "
            "1>>>(y, n); }\n"},
        GateCase{
            "SumOverGridStride", "writes-outer-variable",
            "__global__ void k(const float* x, float* y, int n) {\n    float s = 0;\n    for (int "
            "i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) s += "
            "x[i];\n    y[threadIdx.x] = s;\n}\n"}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
