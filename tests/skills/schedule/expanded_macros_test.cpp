/// Macros in kernels, before and after.
#include "skills/schedule/expanded_macros.h"
#include "tests/skills/schedule/rewritten_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelskill::skills {
namespace {

std::string expandedText(const std::string& source) {
    return rewrittenText(expandedMacros, source);
}

const std::string macros = R"(#define WIDTH 32
#define ROW (blockIdx.y * blockDim.y + threadIdx.y)
#define AT(p, i, j) p[(i) * n + \
                      (j)]
#define SQUARE(v) ((v) * (v))
#define NEGATED(v) -v
#define FOR_EACH(i, n) for (int i = threadIdx.x; i < (n); i += blockDim.x)
)";

std::string kernelOf(const std::string& work) {
    return macros + "__global__ void k(const float* x, float* y, int m, int n) {\n" + work + "}\n";
}

TEST(ExpandedMacros, WithArgumentsAndMacrosInThem) {
    EXPECT_EQ(expandedText(kernelOf(R"(    if (ROW < m)
        AT(y, ROW, WIDTH) = SQUARE(AT(x, ROW, max(m, n))) -NEGATED(m); // a square
    FOR_EACH(j, n) {
        y[j] = 0;
    }
)")),
              kernelOf(R"(    if ((blockIdx.y * blockDim.y + threadIdx.y) < m)
        y[((blockIdx.y * blockDim.y + threadIdx.y)) * n + (WIDTH)] = ((x[((blockIdx.y * blockDim.y + threadIdx.y)) * n + (max(m, n))]) * (x[((blockIdx.y * blockDim.y + threadIdx.y)) * n + (max(m, n))])) - -m; // a square
    for (int j = threadIdx.x; j < (n); j += blockDim.x) {
        y[j] = 0;
    }
)"));
}

TEST(ExpandedMacros, LeavesOthers) {
    const std::vector<std::string> sources = {
        // The macro is a number.
        kernelOf("    y[WIDTH] = 0;\n"),
        // The macro is defined twice.
        "#define F(v) ((v) + 1)\n#undef F\n#define F(v) ((v) + 2)\n"
        "__global__ void k(float* y) {\n    y[0] = F(1);\n}\n",
        // The macro pastes tokens.
        "#define F(a, b) a##b(1)\n__global__ void k(float* y) {\n    y[0] = F(a, bs);\n}\n",
        // The macro takes any number of arguments.
        "#define F(...) max(__VA_ARGS__)\n__global__ void k(float* y) {\n    y[0] = F(1, 2);\n}\n",
    };
    for (const std::string& source : sources)
        EXPECT_EQ(expandedText(source), source);
}

} // namespace
} // namespace kernelskill::skills
