#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "invariant-hoisting";

const std::string signature =
    "__global__ void k(const float* x, float* y, float a, float b, int m, int n) {\n";
const std::string position = "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n";

std::string kernel(const std::string& body) {
    return signature + position + body + "}\n";
}

/// As kernel(), launched with blocks of 256 threads.
std::string launched(const std::string& body) {
    return kernel(body) + "void run(float* x, float* y, float a, float b, int m, int n) {\n"
                          "    k<<<(n + 255) / 256, 256>>>(x, y, a, b, m, n);\n}\n";
}

TEST(InvariantHoisting, TakesTheOutermostLoopThatLeavesTheArguments) {
    checkApplicable(id,
                    kernel("    if (i < n) {\n"
                           "        float sum = 0;\n"
                           "        for (int r = 0; r < m; ++r) {\n"
                           "            for (int c = 0; c < m; ++c)\n"
                           "                sum += x[(r + c) * n + i] * sinf(a);\n"
                           "        }\n"
                           "        y[i] = sum;\n"
                           "    }\n"),
                    kernel("    if (i < n) {\n"
                           "        float sum = 0;\n"
                           "        const float sine = sinf(a);\n"
                           "        for (int r = 0; r < m; ++r) {\n"
                           "            for (int c = 0; c < m; ++c)\n"
                           "                sum += x[(r + c) * n + i] * sine;\n"
                           "        }\n"
                           "        y[i] = sum;\n"
                           "    }\n"));
}

TEST(InvariantHoisting, BracesTheBodyOfALoopThatHasNoBlock) {
    checkApplicable(id,
                    kernel("    if (i >= n) return;\n"
                           "    for (int r = 0; r < m; ++r)\n"
                           "        for (int c = 0; c < m; ++c)\n"
                           "            y[r * n + i] += x[c * n + i] * powf(a, (float)r);\n"
                           "    y[i] += b;\n"),
                    kernel("    if (i >= n) return;\n"
                           "    for (int r = 0; r < m; ++r) {\n"
                           "        const float power = powf(a, (float)r);\n"
                           "        for (int c = 0; c < m; ++c)\n"
                           "            y[r * n + i] += x[c * n + i] * power;\n"
                           "    }\n"
                           "    y[i] += b;\n"));
}

TEST(InvariantHoisting, MovesADeclaration) {
    checkApplicable(id,
                    kernel("    for (; i < n; i += gridDim.x * blockDim.x) {\n"
                           "        const float c1 = 1.0f - powf(a, m), c2 = 1.0f;\n"
                           "        const float decay = 1.0f - powf(b, m); // bias\n"
                           "        y[i] = x[i] / decay * c1 + c2;\n"
                           "    }\n"),
                    kernel("    const float term = 1.0f - powf(a, m);\n"
                           "    const float decay = 1.0f - powf(b, m); // bias\n"
                           "    for (; i < n; i += gridDim.x * blockDim.x) {\n"
                           "        const float c1 = term, c2 = 1.0f;\n"
                           "        y[i] = x[i] / decay * c1 + c2;\n"
                           "    }\n"));
}

TEST(InvariantHoisting, TakesWhatAConditionDecidesAndMergesEqualOnes) {
    checkApplicable(id,
                    kernel("    float sum = 0;\n"
                           "    int j = 0;\n"
                           "    while (j < m) {\n"
                           "        const float v = x[j++];\n"
                           "        if (v > 0)\n"
                           "            sum += v / (1.0f + expf(-a));\n"
                           "        else\n"
                           "            sum -= v / (1.0f + expf(-a));\n"
                           "    }\n"
                           "    if (i < n) y[i] = sum;\n"),
                    kernel("    float sum = 0;\n"
                           "    int j = 0;\n"
                           "    const float divisor = 1.0f + expf(-a);\n"
                           "    while (j < m) {\n"
                           "        const float v = x[j++];\n"
                           "        if (v > 0)\n"
                           "            sum += v / divisor;\n"
                           "        else\n"
                           "            sum -= v / divisor;\n"
                           "    }\n"
                           "    if (i < n) y[i] = sum;\n"));
}

TEST(InvariantHoisting, LeavesProductsThatAreAddedTo) {
    const std::string text = appliedText(id, kernel("    float v = 1;\n"
                                                    "    for (int r = 0; r < m; ++r)\n"
                                                    "        v = b * cosf(a) + v * x[r];\n"
                                                    "    if (i < n) y[i] = v;\n"));
    EXPECT_TRUE(text.contains("    const float cosine = cosf(a);\n")) << text;
    EXPECT_TRUE(text.contains("        v = b * cosine + v * x[r];\n")) << text;
}

TEST(InvariantHoisting, TakesTemplatesAndNamesOutOfMacros) {
    checkApplicable(id,
                    "#define RATE 0.5f\n"
                    "template <typename T>\n"
                    "__global__ void k(const T* x, T* y, T a, int m, int n) {\n"
                    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                    "    const float base = static_cast<float>(a);\n"
                    "    if (i < n)\n"
                    "        for (int r = 0; r < m; r++) {\n"
                    "            y[i] += x[r] * powf(base, RATE);\n"
                    "        }\n"
                    "}\n"
                    "template __global__ void k<float>(const float*, float*, float, int, int);\n",
                    "#define RATE 0.5f\n"
                    "template <typename T>\n"
                    "__global__ void k(const T* x, T* y, T a, int m, int n) {\n"
                    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                    "    const float base = static_cast<float>(a);\n"
                    "    if (i < n) {\n"
                    "        const float power = powf(base, RATE);\n"
                    "        for (int r = 0; r < m; r++) {\n"
                    "            y[i] += x[r] * power;\n"
                    "        }\n"
                    "    }\n"
                    "}\n"
                    "template __global__ void k<float>(const float*, float*, float, int, int);\n");
}

TEST(InvariantHoisting, TakesFieldsAndConstantMemory) {
    const std::string text =
        appliedText(id, "struct Options { double rate; int kind; };\n"
                        "__constant__ double weights[4];\n"
                        "__global__ void k(const double* x, double* y, Options options, int m) {\n"
                        "\tauto i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                        "\tfor (int r = 0; r < m; ++r)\n"
                        "\t\ty[i] += x[r] * log(options.rate + weights[2]);\n"
                        "}\n");
    EXPECT_TRUE(text.contains("\tconst double logarithm = log(options.rate + weights[2]);\n"
                              "\tfor (int r = 0; r < m; ++r)\n"
                              "\t\ty[i] += x[r] * logarithm;\n"))
        << text;
}

TEST(InvariantHoisting, ComputesUniformPowersOnceABlock) {
    checkApplicable(id,
                    launched("    if (i < n) {\n"
                             "        const float first = 1.0f - powf(a, (float)m);\n"
                             "        y[i] = x[i] / first / (1.0f - powf(b, (float)m));\n"
                             "    }\n"),
                    signature +
                        "    __shared__ float blockFirst;\n"
                        "    __shared__ float blockDivisor;\n"
                        "    if (threadIdx.x == 0) {\n"
                        "        blockFirst = 1.0f - powf(a, (float)m);\n"
                        "        blockDivisor = 1.0f - powf(b, (float)m);\n"
                        "    }\n"
                        "    __syncthreads();\n" +
                        position +
                        "    if (i < n) {\n"
                        "        const float first = blockFirst;\n"
                        "        y[i] = x[i] / first / blockDivisor;\n"
                        "    }\n}\n"
                        "void run(float* x, float* y, float a, float b, int m, int n) {\n"
                        "    k<<<(n + 255) / 256, 256>>>(x, y, a, b, m, n);\n}\n");
}

TEST(InvariantHoisting, LetsOneThreadOfTwoAxesCompute) {
    const std::string text =
        appliedText(id, "__global__ void k(double* y, double a, double b, int w, int h) {\n"
                        "    int c = blockIdx.x * blockDim.x + threadIdx.x;\n"
                        "    int r = blockIdx.y * blockDim.y + threadIdx.y;\n"
                        "    if (c >= w || r >= h) return;\n"
                        "    y[r * w + c] *= pow(a, b);\n"
                        "}\n");
    EXPECT_TRUE(text.contains("    __shared__ double blockPower;\n"
                              "    if (threadIdx.x == 0 && threadIdx.y == 0)\n"
                              "        blockPower = pow(a, b);\n"
                              "    __syncthreads();\n"))
        << text;
    EXPECT_TRUE(text.contains("    y[r * w + c] *= blockPower;\n")) << text;
}

TEST(InvariantHoisting, IsAboutTheLoopAtTheCursor) {
    checkTarget(id,
                kernel("    float v = 0;\n"
                       "    for (int r = 0; r < m; ++r) v += sinf(a) * x[r];\n"
                       "    for (int r = 0; r < m; ++r) $0v += cosf(a) * x[r];\n"
                       "    if (i < n) y[i] = v;\n"),
                "for (int r = 0; r < m; ++r) v += cosf(a) * x[r];");
}

class InvariantHoistingGates : public ::testing::TestWithParam<GateCase> {};

TEST_P(InvariantHoistingGates, Refuses) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

std::string inLoop(const std::string& statement) {
    return kernel("    float v = 0;\n    for (int r = 0; r < m; ++r) {\n        " + statement +
                  "\n    }\n    if (i < n) y[i] = v;\n");
}

INSTANTIATE_TEST_SUITE_P(
    All, InvariantHoistingGates,
    testing::Values(
        GateCase{"ArgumentsChange", "no-invariant-function", inLoop("v += sinf(a * r);")},
        GateCase{"ArgumentIsCarried", "no-invariant-function",
                 inLoop("v += powf(a, b); a = a * 0.5f;")},
        GateCase{"ArgumentIsTakenTheAddressOf", "no-invariant-function",
                 kernel("    float v = 0, w = a;\n    float* p = &w;\n"
                        "    for (int r = 0; r < m; ++r) {\n        v += powf(w, b);\n"
                        "        *p += 1;\n    }\n    if (i < n) y[i] = v;\n")},
        GateCase{"ArgumentIsDeclaredInside", "no-invariant-function",
                 inLoop("float w = x[r]; v += powf(w, b);")},
        GateCase{"ConstantsAlone", "no-invariant-function", inLoop("v += powf(2.0f, 0.3f);")},
        GateCase{"OnceAtTheStart", "under-condition",
                 kernel("    for (float v = sinf(a); v < m; v += 1.0f)\n        y[i] = v;\n")},
        GateCase{"DivisionByWhatMayBeZero", "no-invariant-function",
                 inLoop("if (m > 0) v += powf(a, n / m);")},
        GateCase{"OwnFunction", "no-invariant-function",
                 "__device__ float tan(float a, int n) { return a + n; }\n" +
                     inLoop("v += tan(a, n);")},
        GateCase{"StraightCode", "compiler-hoists", inLoop("v += expf(-a) * x[r];")},
        GateCase{"LoadedArgument", "reads-memory", inLoop("v += sinf(x[i]) * r;")},
        GateCase{"FromMacro", "from-macro",
                 "#define DECAY(t) powf(a, t)\n" + inLoop("v += DECAY(b) * x[r];")},
        GateCase{"FewRounds", "few-rounds",
                 kernel("    float v = 0;\n    for (int r = 0; r < 3; ++r)\n"
                        "        v += sinf(a) * x[r];\n    if (i < n) y[i] = v;\n")},
        GateCase{"SharedLine", "several-statements-a-line",
                 kernel("    float v = 0; for (int r = 0; r < m; ++r) v += sinf(a) * x[r];\n"
                        "    if (i < n) y[i] = v;\n")},
        GateCase{"NoPlace", "no-place",
                 kernel("    float v = 0;\n    int j = 0;\n    do\n"
                        "        for (int r = 0; r < m; ++r)\n"
                        "            v += sinf(b + j) * x[r];\n    while (++j < 3);\n"
                        "    if (i < n) y[i] = v;\n")},
        GateCase{"OnePowerABlock", "cheap-function",
                 launched("    if (i < n) y[i] = x[i] * powf(a, b);\n")},
        GateCase{"UniformUnderACondition", "under-condition",
                 launched("    if (i < n) y[i] = x[i] > 0 ? powf(a, b) * powf(b, a) : 0;\n")},
        GateCase{"UniformOutOfAMacro", "from-macro",
                 "#define BOTH powf(a, b) * powf(b, a)\n" +
                     launched("    if (i < n) y[i] = x[i] * BOTH;\n")},
        GateCase{"NoSharedMemoryLeft", "shared-memory-full",
                 launched("    __shared__ float tile[12288];\n    tile[threadIdx.x] = x[i];\n"
                          "    __syncthreads();\n"
                          "    if (i < n) y[i] = tile[m] * powf(a, b) / powf(b, a);\n")},
        GateCase{"BlocksOfOneWarp", "kernel-of-one-warp",
                 kernel("    if (i < n) y[i] = x[i] * powf(a, b) / powf(b, a);\n") +
                     "void run(float* x, float* y, float a, float b, int m, int n) {\n"
                     "    k<<<(n + 31) / 32, 32>>>(x, y, a, b, m, n);\n}\n"}),
    [](const testing::TestParamInfo<GateCase>& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
