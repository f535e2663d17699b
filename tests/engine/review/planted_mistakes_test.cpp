/// Edits that are wrong only for some values, sizes or places: each is refused.
#include "engine/review/reviewer.h"
#include "tests/engine/emulator_fixture.h"
#include "tests/test_seed.h"

#include <gtest/gtest.h>

#include <ostream>

namespace kernelskill::engine {
namespace {

struct Planted {
    const char* name;
    std::string text;
    std::string right;
    std::string wrong;
    skills::Numerics numerics = skills::Numerics::Exact;
    friend std::ostream& operator<<(std::ostream& out, const Planted& planted) {
        return out << planted.name;
    }
};

std::string elementwise(const std::string& expression, const std::string& size = "1 << 20") {
    return "__global__ void k(const float* x, const int* m, float* y, float a, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (i < n) y[i] = " +
           expression +
           ";\n}\n"
           "int main() { int n = " +
           size +
           "; float *x, *y; int* m;\n"
           "    k<<<(n + 255) / 256, 256>>>(x, m, y, 2.0f, n); }\n";
}

const std::string instances =
    "template <int W> __global__ void k(const float* x, float* y, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] = x[i] * W;\n}\n"
    "int main() { int n = 1 << 12; float *x, *y;\n"
    "    k<1><<<n / 256, 256>>>(x, y, n);\n    k<2><<<n / 256, 256>>>(x, y, n);\n"
    "    k<5><<<n / 256, 256>>>(x, y, n); }\n";

/// A block for each row; `body` computes `result` from `x` and `columns`.
std::string rowwise(const std::string& body, const std::string& columns = "100") {
    return "__global__ void k(const float* x, float* y, int columns) {\n"
           "    float result = 0;\n"
           "    if (threadIdx.x == 0) {\n" +
           body +
           "        y[blockIdx.x] = result;\n    }\n}\n"
           "int main() { float *x, *y; k<<<16, 32>>>(x, y, " +
           columns + "); }\n";
}

const std::string maximum =
    rowwise("        for (int c = 0; c < columns; ++c)\n"
            "            result = fmaxf(result, fabsf(x[blockIdx.x * columns + c]));\n");
const std::string total = rowwise("        for (int c = 0; c < columns; ++c)\n"
                                  "            result += x[blockIdx.x * columns + c];\n");

/// A thread for each of 64 elements of y; the launch passes `value` as p.
std::string withParameter(const std::string& expression, const std::string& value) {
    return "__global__ void k(const float* x, float* y, int p) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    y[i] = " +
           expression +
           ";\n}\n"
           "int main() { float *x, *y; k<<<2, 32>>>(x, y, " +
           value + "); }\n";
}

const std::string sumOfBlocks =
    "__global__ void k(const float* x, float* y, int n) {\n"
    "    __shared__ float total;\n"
    "    if (threadIdx.x == 0) total = 0;\n"
    "    __syncthreads();\n"
    "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)\n"
    "        y[i] = x[i] * 2;\n"
    "    if (threadIdx.x == 0)\n"
    "        for (unsigned b = 0; b < gridDim.x; ++b) total += x[b];\n"
    "    __syncthreads();\n"
    "    if (threadIdx.x == 0) y[n + blockIdx.x] = total;\n}\n"
    "int main() { float *x, *y; k<<<16, 32>>>(x, y, 4096); }\n";

class PlantedMistakes : public kernelskill::testing::EmulatorFixture,
                        public ::testing::WithParamInterface<Planted> {};

TEST_P(PlantedMistakes, AreRefused) {
    const Planted& planted = GetParam();
    const ProgramSource source = program(planted.text);
    const auto at = planted.text.find(planted.right);
    ASSERT_NE(at, std::string::npos);
    const auto begin = static_cast<std::uint32_t>(at);
    const analysis::Span span{begin, begin + static_cast<std::uint32_t>(planted.right.size())};
    const auto verdict =
        Reviewer(executor_.get(), bench_.toolchain)
            .review({source, source.model->kernels.at(0)}, {{source.file, {{span, planted.wrong}}}},
                    planted.numerics, {}, {}, {.seed = testSeed()});
    ASSERT_TRUE(verdict) << verdict.error().describe();
    EXPECT_EQ(verdict->status, VerdictStatus::Incorrect) << verdict->summary;
    EXPECT_TRUE(verdict->isAboutEdit) << verdict->summary;
}

INSTANTIATE_TEST_SUITE_P(
    Classes, PlantedMistakes,
    ::testing::Values(
        Planted{"a scalar's value", elementwise("a * x[i]"), "a *", "2.0f *"},
        Planted{"zero", elementwise("a / (x[i] * x[i] + 1)"), "a / (x[i]",
                "(x[i] == 0 ? 0 : a) / (x[i]"},
        Planted{"a half", elementwise("x[i] >= 0.5f ? a : x[i]"), ">= 0.5f", "> 0.5f"},
        Planted{"one and more", elementwise("fminf(x[i], 10.0f)"), "fminf(x[i], 10.0f)", "x[i]"},
        Planted{"a NaN", elementwise("x[i] + a"), "x[i] + a", "x[i] != x[i] ? a : x[i] + a"},
        Planted{"an infinity", elementwise("x[i] * 0.5f"), "x[i] * 0.5f",
                "x[i] > 3e38f ? 0 : x[i] * 0.5f"},
        Planted{"a denormal", elementwise("x[i]"), "x[i]", "fabsf(x[i]) < 1e-38f ? 0 : x[i]"},
        Planted{"a negative integer", elementwise("(float)m[i]"), "m[i]", "(m[i] < 0 ? 0 : m[i])"},
        Planted{"a large integer", elementwise("(float)(m[i] >> 4)"), "m[i]",
                "(unsigned short)m[i]"},
        Planted{"the low bits of a mantissa", elementwise("x[i]"), "x[i]",
                "__int_as_float(__float_as_int(x[i]) & ~1)"},
        Planted{"a remainder of two", elementwise("x[i]"), "i < n", "i < n - (n % 4 == 2)"},
        Planted{"a small size", elementwise("x[i]"), "i < n", "i < (n < 1000 ? n - n % 32 : n)"},
        Planted{"a size of one", elementwise("x[i]"), "i < n", "i < n && n > 1"},
        Planted{"a high block", elementwise("x[i]"), "i < n", "i < n && blockIdx.x < 60000"},
        Planted{"16 bits", elementwise("x[i]"), "x[i]", "x[(unsigned short)i]"},
        Planted{"32 bits of bytes", elementwise("x[i]"), "x[i]",
                "*(const float*)((const char*)x + (unsigned)(4 * (unsigned)i))"},
        Planted{"a constant's value",
                "__constant__ float w[4];\n" + elementwise("w[i % 4] > 0.75f ? a : x[i]") +
                    "void set(const float* v) { cudaMemcpyToSymbol(w, v, sizeof w); }\n",
                "> 0.75f", ">= 0.75f"},
        Planted{"a third instance", instances, "x[i] * W", "(W == 5 ? 0 : x[i] * W)"},
        Planted{"a parameter that is 0", withParameter("x[i + p]", "0"), "i + p", "i - p"},
        Planted{"a parameter that is 1", withParameter("x[i / p]", "1"), "i / p", "i"},
        Planted{"a parameter that is the number of blocks", withParameter("x[i / p]", "2"), "i / p",
                "i / 2"},
        Planted{"a short row", maximum, "c < columns", "c < (columns > 5 ? columns : 0)"},
        Planted{"a long row", total, "c < columns", "c < (columns < 1000 ? columns : 1000)"},
        Planted{"a maximum of a half", maximum, "y[blockIdx.x] = result",
                "y[blockIdx.x] = result == 0.5f ? 0 : result"},
        Planted{"a tiny maximum", maximum, "y[blockIdx.x] = result",
                "y[blockIdx.x] = result < 1e-3f ? 0 : result"},
        Planted{"a NaN alone in its row", total, "+= x[blockIdx.x * columns + c]",
                "+= x[blockIdx.x * columns + c] != x[blockIdx.x * columns + c] ? 0 : "
                "x[blockIdx.x * columns + c]"},
        Planted{"a row longer than a warp",
                "__global__ void k(const int* begin, const float* x, float* y, int n) {\n"
                "    int row = blockIdx.x, lane = threadIdx.x;\n"
                "    float sum = 0;\n"
                "    for (int i = begin[row] + lane; i < begin[row + 1]; i += 32) sum += x[i];\n"
                "    y[row * 32 + lane] = sum;\n}\n"
                "int main() { int* b; float *x, *y; k<<<8, 32>>>(b, x, y, 8); }\n",
                "sum += x[i]", "sum = x[i]"},
        Planted{"few blocks", sumOfBlocks, "b < gridDim.x", "b < (gridDim.x & ~3u)"},
        Planted{"a half's value",
                "#include <cuda_fp16.h>\n"
                "__global__ void k(const __half* x, __half* y, __half a) {\n"
                "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                "    y[i] = __hmul(a, x[i]);\n}\n"
                "int main() { __half *x, *y; k<<<4, 32>>>(x, y, __float2half(2.0f)); }\n",
                "__hmul(a,", "__hmul(__float2half(2.0f),"},
        Planted{"a literal size beside another",
                "__global__ void k(const float* x, float* y, int size) {\n"
                "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                "    int j = blockIdx.y;\n"
                "    if (i < size && j < size) y[j * size + i] = x[j * size + size - 1 - i];\n}\n"
                "int main() { const int n = 2048; float *x, *y, *z; cudaMalloc(&z, n * 4);\n"
                "    k<<<dim3(2, 64), 32>>>(x, y, 64); }\n",
                "size - 1 - i", "63 - i"},
        Planted{"a literal launch",
                "__global__ void k(const float* x, float* y, int n) {\n"
                "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                "    if (i < n) y[i] = x[i];\n}\n"
                "int main() { float *x, *y; k<<<4, 256>>>(x, y, 1024); }\n",
                "i < n", "i < 1024"}));

} // namespace
} // namespace kernelskill::engine
