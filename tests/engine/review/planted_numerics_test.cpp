/// Edits whose results are close to the original's and wrong all the same, and edits that round
/// differently and are right.
#include "tests/engine/review/review_fixture.h"

#include <gmock/gmock.h>

#include <ostream>

namespace kernelskill::engine {
namespace {

using skills::Accuracy;
using skills::Numerics;
using skills::StatedError;

struct Rounded {
    const char* name;
    std::string text;
    std::string from;
    std::string to;
    Accuracy accuracy = Numerics::Reassociates;
    std::string because = ""; ///< In the summary of a refusal.
    friend std::ostream& operator<<(std::ostream& out, const Rounded& rounded) {
        return out << rounded.name;
    }
};

std::string mapOf(const std::string& expression) {
    return "__device__ float squash(float v) {\n"
           "    float s = v * v;\n"
           "    return fabsf(v) > 3 ? copysignf(1, v) : v * (27 + s) / (27 + 9 * s);\n}\n"
           "__global__ void k(const float* x, float* y, float a, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (i < n) {\n"
           "        float v = x[i];\n"
           "        y[i] = " +
           expression +
           ";\n    }\n}\n"
           "int main() { int n = 1 << 14; float *x, *y;\n"
           "    k<<<(n + 255) / 256, 256>>>(x, y, 1.5f, n); }\n";
}

/// One sum of all elements, by one block.
const std::string blockSum = R"(
__global__ void k(const float* x, float* y, int n) {
    __shared__ float part[256];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 256)
        sum += x[i] * x[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        y[blockIdx.x] = part[0];
}
int main() { int n = 1 << 16; float *x, *y; k<<<1, 256>>>(x, y, n); }
)";

/// A sum of each row.
const std::string rowSums = R"(
__device__ float cut(float v) { return __int_as_float(__float_as_int(v) & 0xffff0000); }
__global__ void k(const float* x, float* y, int rows, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float sum = 0;
        for (int i = 0; i < n; ++i)
            sum += x[i * rows + r];
        y[r] = sum;
    }
}
int main() { int rows = 512, n = 64; float *x, *y; k<<<rows / 128, 128>>>(x, y, rows, n); }
)";

const std::string compensated = R"(
__global__ void k(const float* x, float* y, int rows, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float sum = 0, rest = 0;
        for (int i = 0; i < n; ++i) {
            float term = x[i * rows + r] - rest;
            float next = sum + term;
            rest = (next - sum) - term;
            sum = next;
        }
        y[r] = sum;
    }
}
int main() { int rows = 512, n = 64; float *x, *y; k<<<rows / 128, 128>>>(x, y, rows, n); }
)";

/// A kernel for two functions, of which the second is an instance of its own.
const std::string twoKinds = R"(
struct Twice { __device__ float operator()(float v) const { return 2 * v; } };
struct Curve { __device__ float operator()(float v) const { return v + v * v; } };
template <typename F>
__global__ void k(float* x, int n, F f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = f(x[i]);
}
int main() {
    int n = 1 << 14; float* x;
    k<Twice><<<(n + 255) / 256, 256>>>(x, n, Twice{});
    k<Curve><<<(n + 255) / 256, 256>>>(x, n, Curve{});
}
)";

/// Rows of 16-bit numbers, summed in float and normalised; the last store rounds.
const std::string halfRows = R"(
#include <cuda_bf16.h>
__global__ void k(const __nv_bfloat16* x, __nv_bfloat16* y, int rows, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float sum = 0;
        for (int i = 0; i < n; ++i)
            sum += __bfloat162float(x[i * rows + r]) * __bfloat162float(x[i * rows + r]);
        float scale = rsqrtf(sum / n + 1e-5f);
        for (int i = 0; i < n; ++i)
            y[i * rows + r] = __float2bfloat16(__bfloat162float(x[i * rows + r]) * scale);
    }
}
int main() { int rows = 512, n = 64; __nv_bfloat16 *x, *y; k<<<rows / 128, 128>>>(x, y, rows, n); }
)";

/// The same, summed in 16 bits.
const std::string halfSums = R"(
#include <cuda_bf16.h>
__global__ void k(const __nv_bfloat16* x, __nv_bfloat16* y, int rows, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        __nv_bfloat16 sum = __float2bfloat16(0);
        for (int i = 0; i < n; ++i)
            sum = __hadd(sum, x[i * rows + r]);
        y[r] = sum;
    }
}
int main() { int rows = 512, n = 64; __nv_bfloat16 *x, *y; k<<<rows / 128, 128>>>(x, y, rows, n); }
)";

class PlantedNumerics : public kernelskill::testing::ReviewFixture,
                        public ::testing::WithParamInterface<Rounded> {};

TEST_P(PlantedNumerics, AreRefused) {
    const Rounded& planted = GetParam();
    const Verdict verdict = review(planted.text, planted.from, planted.to, planted.accuracy);
    EXPECT_EQ(verdict.status, VerdictStatus::Incorrect) << report(verdict);
    EXPECT_TRUE(verdict.isAboutEdit) << report(verdict);
    EXPECT_THAT(verdict.summary, ::testing::HasSubstr(planted.because));
}

constexpr const char* beyondRounding = "a float64 reference from which the original is";
constexpr const char* lost = "are lost";
constexpr const char* small = "where results are small";
constexpr const char* forms = "both computed in float64";

INSTANTIATE_TEST_SUITE_P(
    Mistakes, PlantedNumerics,
    ::testing::Values(
        Rounded{"times 1.004", mapOf("expf(v)"), "expf(v)", "1.004f * __expf(v)",
                Numerics::ReducedPrecision},
        Rounded{"times 1.0001", mapOf("expf(v)"), "expf(v)", "1.0001f * __expf(v)",
                Numerics::ReducedPrecision},
        Rounded{"times 1.000005, within the bound of one result",
                mapOf("expf(v)"),
                "expf(v)",
                "1.000005f * __expf(v)",
                {Numerics::ReducedPrecision, StatedError{11, 0}}},
        Rounded{"a reordered product, times 1.000005", mapOf("a * v * v"), "a * v * v",
                "1.000005f * a * (v * v)"},
        Rounded{"a sum, times 1.00001, where its length allows as much", blockSum, "= part[0]",
                "= 1.00001f * part[0]", Numerics::Reassociates, "scaled error"},
        Rounded{"a long sum without its last term", blockSum, "for (int i = threadIdx.x; i < n;",
                "for (int i = threadIdx.x; i < n - (n > 1000);", Numerics::Reassociates},
        Rounded{"small results to zero", mapOf("a * v * v"), "a * v * v",
                "(fabsf(a * (v * v)) < 1e-6f ? 0 : a * (v * v))"},
        Rounded{"smaller ones to zero", mapOf("a * v * v"), "a * v * v",
                "(fabsf(a * (v * v)) < 1e-7f ? 0 : a * (v * v))", Numerics::Reassociates, small},
        Rounded{"small results to zero, at reduced precision", mapOf("expf(v) * a * v"),
                "expf(v) * a * v", "(fabsf(v) < 1e-5f ? 0 : __expf(v) * a * v)",
                Numerics::ReducedPrecision, lost},
        Rounded{"small results to a grid", mapOf("a * v"), "a * v",
                "rintf(a * v * 16777216) / 16777216", Numerics::Reassociates, forms},
        Rounded{"small results beside a constant", mapOf("v / (1 + expf(-v))"),
                "v / (1 + expf(-v))", "(v / (1 + expf(-v)) + 1e-5f) - 1e-5f"},
        Rounded{"small results of an exponential beside a constant", mapOf("a * expf(v)"),
                "a * expf(v)", "(a * expf(v) + 1e-4f) - 1e-4f", Numerics::Reassociates, lost},
        Rounded{"small results beside a constant in a function for two kinds of values", twoKinds,
                "v + v * v", "(v + v * v + 1e-3f) - 1e-3f"},
        Rounded{"small results in 12 bits", mapOf("expf(v)"), "expf(v)",
                "(expf(v) > 1e-3f ? expf(v) : __int_as_float(__float_as_int(expf(v)) & -4096))",
                Numerics::Reassociates, "lost digits"},
        Rounded{"a factor within the bound, which float holds", mapOf("a * v * v"), "a * v * v",
                "(1 + 0x1p-22f) * a * (v * v)", Numerics::Reassociates, forms},
        Rounded{"a clipped normal distribution", mapOf("0.5f * v * (1 + erff(v * 0.70710678f))"),
                "0.5f * v * (1 + erff(v * 0.70710678f))",
                "v < -5 ? 0 : 0.5f * v * (1 + erff(v * 0.70710678f))", Numerics::Reassociates,
                forms},
        Rounded{"a quotient of polynomials for tanh", mapOf("tanhf(v)"), "tanhf(v)", "squash(v)",
                Numerics::ReducedPrecision},
        Rounded{"a polynomial for tanh", mapOf("tanhf(v)"), "tanhf(v)",
                "v - v * v * v / 3 + 2 * v * v * v * v * v / 15", Numerics::ReducedPrecision},
        Rounded{"sums kept in 16 bits", rowSums, "sum += x[i * rows + r];",
                "sum = cut(sum + x[i * rows + r]);", Numerics::ReducedPrecision},
        Rounded{"reordered sums kept in 16 bits", rowSums, "sum += x[i * rows + r];",
                "sum = cut(x[i * rows + r] + sum);"},
        Rounded{"sums without one term", rowSums, "int i = 0; i < n;", "int i = n > 60; i < n;"},
        Rounded{"rows of bfloat16, times 1.004", halfRows, "rsqrtf(sum / n + 1e-5f)",
                "1.004f * rsqrtf(sum / n + 1e-5f)"},
        Rounded{"rows of bfloat16, times 1.002", halfRows, "rsqrtf(sum / n + 1e-5f)",
                "1.002f * rsqrtf(sum / n + 1e-5f)", Numerics::Reassociates, beyondRounding},
        Rounded{"rows of bfloat16 without a term", halfRows,
                "int i = 0; i < n; ++i)\n            sum",
                "int i = n > 60; i < n; ++i)\n            sum"}),
    [](const auto& info) { return std::to_string(info.index); });

class RightNumerics : public PlantedNumerics {};

TEST_P(RightNumerics, AreAccepted) {
    const Rounded& right = GetParam();
    const Verdict verdict = review(right.text, right.from, right.to, right.accuracy);
    EXPECT_TRUE(isAccepted(verdict)) << report(verdict);
}

Accuracy states(double ulps, double absolute = 0) {
    return {Numerics::ReducedPrecision, StatedError{ulps, absolute}};
}

INSTANTIATE_TEST_SUITE_P(
    Edits, RightNumerics,
    ::testing::Values(
        Rounded{"shuffles", blockSum,
                "for (int s = 128; s > 0; s >>= 1) {\n        if "
                "(threadIdx.x < s)\n            part[threadIdx.x] += "
                "part[threadIdx.x + s];\n        __syncthreads();\n    }",
                "sum = part[threadIdx.x];\n    __syncthreads();\n    for (int s = 16; s > 0; s >>= "
                "1)\n        sum += "
                "__shfl_down_sync(0xffffffffu, sum, s);\n    if (threadIdx.x % 32 == 0) "
                "part[threadIdx.x / 32] = sum;\n    __syncthreads();\n    if (threadIdx.x == 0)\n"
                "        for (int w = 1; w < 8; ++w) part[0] += part[w];"},
        Rounded{
            "separate accumulators", rowSums,
            "float sum = 0;\n        for (int i = 0; i < n; ++i)\n            sum += x[i * rows "
            "+ r];",
            "float sum = 0, other = 0;\n        int i = 0;\n        for (; i + 1 < n; i += 2) "
            "{\n            sum += x[i * rows + r];\n            other += x[(i + 1) * rows + "
            "r];\n        }\n        if (i < n) sum += x[i * rows + r];\n        sum += other;"},
        Rounded{"sums backwards", rowSums, "int i = 0; i < n; ++i", "int i = n - 1; i >= 0; --i"},
        Rounded{"rows of bfloat16, summed backwards", halfRows,
                "int i = 0; i < n; ++i)\n            sum",
                "int i = n - 1; i >= 0; --i)\n            sum"},
        Rounded{"sums in bfloat16, backwards", halfSums, "int i = 0; i < n; ++i",
                "int i = n - 1; i >= 0; --i"},
        Rounded{"sums without compensation", compensated,
                "float term = x[i * rows + r] - rest;\n            float next = sum + term;\n      "
                "      rest = (next - sum) - term;\n            sum = next;",
                "sum += x[i * rows + r];"},
        Rounded{"sums of double that cancel, in another order",
                "__global__ void k(const double* p, const double* q, double* y, int rows, int n) "
                "{\n    int r = blockIdx.x * blockDim.x + threadIdx.x;\n    if (r < rows) {\n     "
                "   double sum = 0;\n        for (int i = 0; i < n; ++i) {\n            double a = "
                "p[r * n + i], b = q[r * n + i];\n            if (a > 0.0 && b > 0.0)\n            "
                "    sum += a * log(a / b);\n        }\n        y[r] = sum;\n    }\n}\nint main() "
                "{ double *p, *q, *y; k<<<2, 128>>>(p, q, y, 200, 50); }\n",
                "int i = 0; i < n; ++i", "int i = n - 1; i >= 0; --i"},
        Rounded{"a product with the reciprocal", mapOf("v / 3.0f"), "v / 3.0f",
                "v * (1.0f / 3.0f)"},
        Rounded{"a product with a rounded reciprocal", mapOf("v / 3.0f"), "v / 3.0f",
                "v * 0.33333334f"},
        Rounded{"a product with a rounded logarithm", mapOf("expf(v)"), "expf(v)",
                "exp2f(v * 1.442695f)", states(11)},
        Rounded{"a factor in two parts", mapOf("v * 0.001f"), "v * 0.001f",
                "v * (0.0005f + 0.0005f)"},
        Rounded{"an exponential of the negative value", mapOf("a * expf(v)"), "a * expf(v)",
                "a / expf(-v)"},
        Rounded{"a factored product", mapOf("a * v + a * 0.5f"), "a * v + a * 0.5f",
                "a * (v + 0.5f)"},
        Rounded{"an approximate exponential", mapOf("a * expf(v)"), "expf", "__expf", states(11)},
        Rounded{"one that states nothing", mapOf("a * expf(v)"), "expf", "__expf",
                Numerics::ReducedPrecision},
        Rounded{"an approximate quotient", mapOf("a / (1 + v * v)"), "a / (1 + v * v)",
                "__fdividef(a, 1 + v * v)", states(2)},
        Rounded{"a logistic function", mapOf("1 / (1 + expf(-v))"), "1 / (1 + expf(-v))",
                "__fdividef(1, 1 + __expf(-v))", states(13)},
        Rounded{"a sine", mapOf("a * sinf(v)"), "sinf", "__sinf", states(0.5, 9.2e-7)},
        Rounded{"a logarithm", mapOf("logf(1 + v * v)"), "logf", "__logf", states(3, 3.59e-7)},
        Rounded{"a hyperbolic tangent", mapOf("a * tanhf(v)"), "tanhf(v)",
                "(1 - __fdividef(2, __expf(2 * v) + 1))", states(4, 0x1p-21)}),
    [](const auto& info) { return std::to_string(info.index); });

using NumericsVerdict = kernelskill::testing::ReviewFixture;

TEST_F(NumericsVerdict, SaysBoundLargestErrorAndBias) {
    const Verdict verdict = review(mapOf("a * expf(v)"), "expf", "__expf", states(11));
    ASSERT_TRUE(isAccepted(verdict)) << report(verdict);
    EXPECT_THAT(report(verdict),
                ::testing::ContainsRegex("results of 'y': largest error [0-9.]+ ulp \\(original "
                                         "[0-9.]+, allowed [0-9.]+\\), bias [+-][0-9.e-]+ ulp"));
    EXPECT_THAT(report(verdict), ::testing::HasSubstr("the edit states 11 ulp"));
}

} // namespace
} // namespace kernelskill::engine
