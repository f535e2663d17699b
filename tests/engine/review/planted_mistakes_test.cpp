/// Edits that are wrong only for some values, sizes or places: each is refused.
#include "engine/review/reviewer.h"
#include "tests/engine/emulator_fixture.h"

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
                    planted.numerics, {}, {}, {.seed = 11});
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
        Planted{"a literal launch",
                "__global__ void k(const float* x, float* y, int n) {\n"
                "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                "    if (i < n) y[i] = x[i];\n}\n"
                "int main() { float *x, *y; k<<<4, 256>>>(x, y, 1024); }\n",
                "i < n", "i < 1024"}));

} // namespace
} // namespace kernelskill::engine
