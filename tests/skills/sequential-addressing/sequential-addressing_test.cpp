#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "sequential-addressing";

/// A block reduction of `type` with the tree `tree`, launched with blocks of `block`.
std::string reducing(const std::string& tree, const std::string& type = "float",
                     const std::string& block = "256",
                     const std::string& tail = "    if (tid == 0) out[blockIdx.x] = a[0];\n") {
    return "#define THREADS 256\n__global__ void k(const " + type + "* in, " + type +
           "* out, int n) {\n    __shared__ " + type +
           " a[256];\n    int i;\n    int tid = threadIdx.x;\n    a[tid] = in[blockIdx.x * "
           "blockDim.x + tid];\n    __syncthreads();\n" +
           tree + tail + "}\nvoid run(" + type + "* i, " + type + "* o, int n) { k<<<n, " + block +
           ">>>(i, o, n); }\n";
}

struct Form {
    std::string name;
    std::string before;
    std::string after;
    std::string type = "float";
    std::string tail = "    if (tid == 0) out[blockIdx.x] = a[0];\n";
};

class SequentialAddressingFits : public testing::TestWithParam<Form> {};

TEST_P(SequentialAddressingFits, TheTreesThatPeopleWrite) {
    const Form& form = GetParam();
    checkApplicable(id, reducing(form.before, form.type, "256", form.tail),
                    reducing(form.after, form.type, "256", form.tail));
}

INSTANTIATE_TEST_SUITE_P(
    Trees, SequentialAddressingFits,
    testing::Values(
        Form{
            "Modulo",
            "    for (unsigned s = 1; s < blockDim.x; s *= 2) {\n        if ((tid % (2 * s)) == 0) "
            "// each second\n            a[tid] += a[tid + s];\n        __syncthreads();\n    }\n",
            "    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {\n        if (tid < s) // each "
            "second\n            a[tid] += a[tid + s];\n        __syncthreads();\n    }\n"},
        Form{"Mask",
             "    for (int s = 1; s < 256; s <<= 1) {\n        if (!(tid & (2 * s - 1)))\n         "
             "   "
             "a[tid] = max(a[tid], a[tid + s]);\n        __syncthreads();\n    }\n",
             "    for (int s = 256 / 2; s > 0; s >>= 1) {\n        if (tid < s)\n            "
             "a[tid] = "
             "max(a[tid], a[tid + s]);\n        __syncthreads();\n    }\n",
             "int"},
        Form{"NamedIndex",
             "    for (unsigned int s = 1; s < blockDim.x; s *= 2) {\n        int index = 2 * s * "
             "tid;\n        if (index < blockDim.x) {\n            a[index] += a[index + s];\n     "
             "   "
             "}\n        __syncthreads();\n    }\n",
             "    for (unsigned int s = blockDim.x / 2; s > 0; s /= 2) {\n        if (tid < s) {\n "
             "   "
             "        a[tid] += a[tid + s];\n        }\n        __syncthreads();\n    }\n"},
        Form{"While",
             "    int s = 1;\n    while (s < blockDim.x) {\n        if (tid % (2 * s) == 0)\n      "
             "    "
             "  a[tid] *= a[tid + s];\n        __syncthreads();\n        s = s * 2;\n    }\n",
             "    int s = blockDim.x / 2;\n    while (s > 0) {\n        if (tid < s)\n            "
             "a[tid] "
             "*= a[tid + s];\n        __syncthreads();\n        s = s / 2;\n    }\n",
             "double"},
        Form{"Pairs",
             "    for (int p = 2; p <= blockDim.x; p = 2 * p) {\n        if (tid % p == 0)\n       "
             "     "
             "a[tid] += a[tid + p / 2];\n        __syncthreads();\n    }\n",
             "    for (int p = blockDim.x; p > 1; p = p / 2) {\n        if (tid < p / 2)\n         "
             "   "
             "a[tid] += a[tid + p / 2];\n        __syncthreads();\n    }\n",
             "short"},
        Form{"LastElement",
             "    for (i = 2; i <= THREADS; i = 2 * i) {\n        if ((tid + 1) % i == 0) {\n      "
             "      "
             "a[tid] = a[tid] + a[tid - i / 2];\n        }\n        __syncthreads();\n    }\n",
             "    for (i = THREADS; i > 1; i = i / 2) {\n        if (tid >= THREADS - i / 2) {\n   "
             "     "
             "    a[tid] = a[tid] + a[tid - i / 2];\n        }\n        __syncthreads();\n    }\n",
             "float", "    if (tid == (THREADS - 1)) out[blockIdx.x] = a[tid];\n"}),
    [](const auto& info) { return info.param.name; });

TEST(SequentialAddressing, TurnsBothTreesOfABranch) {
    const std::string tree =
        "        for (i = 2; i <= THREADS; i = 2 * i) {\n            if ((tid + "
        "1) % i == 0)\n                a[tid] += a[tid - i / 2];\n            "
        "__syncthreads();\n        }\n        if (tid == THREADS - 1)\n          "
        "  out[blockIdx.x] = a[tid];\n";
    const std::string text =
        appliedText(id, reducing("    if (n == 4) {\n" + tree + "    } else {\n" + tree + "    }\n",
                                 "float", "256", ""));
    EXPECT_TRUE(text.contains("tid >= THREADS - i / 2")) << text;
    EXPECT_TRUE(text.contains("(tid + 1) % i == 0")) << text;
    EXPECT_TRUE(appliedText(id, text).contains("if (n == 4)"));
    EXPECT_FALSE(appliedText(id, text).contains("% i == 0"));
}

TEST(SequentialAddressing, TakesSmallBlocksOfATemplateArgument) {
    const std::string text = appliedText(id, R"(
template <typename T, int BLOCK>
__global__ void k(const T* in, T* out) {
    __shared__ T a[BLOCK];
    a[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int s = 1; s < BLOCK; s *= 2) {
        if (threadIdx.x % (2 * s) == 0) a[threadIdx.x] += a[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[0] = a[0];
}
void run(float* i, float* o) { k<float, 16><<<1, 16>>>(i, o); }
)");
    EXPECT_TRUE(text.contains("int s = BLOCK / 2; s > 0; s /= 2")) << text;
    EXPECT_TRUE(text.contains("if (threadIdx.x < s) a[threadIdx.x]")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty()) << text;
}

TEST(SequentialAddressing, IsExactForIntegersAndMaxima) {
    const auto tree = [](const std::string& fold) {
        return "    for (int s = 1; s < 256; s *= 2) {\n        if (tid % (2 * s) == 0) " + fold +
               "\n        __syncthreads();\n    }\n";
    };
    EXPECT_EQ(offeredNumerics(id, reducing(tree("a[tid] += a[tid + s];"), "int")), Numerics::Exact);
    EXPECT_EQ(offeredNumerics(id, reducing(tree("a[tid] = fmaxf(a[tid], a[tid + s]);"))),
              Numerics::Exact);
    EXPECT_EQ(offeredNumerics(id, reducing(tree("a[tid] += a[tid + s];"))), Numerics::Reassociates);
}

const std::string plainTree =
    "    for (int s = 1; s < blockDim.x; s *= 2) {\n        if (tid % (2 * "
    "s) == 0) a[tid] += a[tid + s];\n        __syncthreads();\n    }\n";

class SequentialAddressingIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(SequentialAddressingIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, SequentialAddressingIsNotOffered,
    testing::Values(
        GateCase{"NoLoop", "no-loop", reducing("")},
        GateCase{"OtherLoop", "not-a-tree",
                 reducing("    for (int s = 0; s < n; ++s)\n        a[tid] += in[s];\n")},
        GateCase{"Halving", "sequential-already",
                 reducing("    for (int s = 128; s > 0; s /= 2) {\n        if (tid < s) a[tid] += "
                          "a[tid + s];\n        __syncthreads();\n    }\n")},
        GateCase{
            "OtherGuard", "guarded-tree",
            reducing("    for (int s = 1; s < blockDim.x; s *= 2) {\n        if (tid % (2 * s) "
                     "== 0 && tid + s < n) a[tid] += a[tid + s];\n        __syncthreads();\n    "
                     "}\n")},
        GateCase{
            "OtherPlace", "not-a-fold",
            reducing("    for (int s = 1; s < blockDim.x; s *= 2) {\n        if (tid % (2 * s) "
                     "== 0) a[tid] += a[tid + 1];\n        __syncthreads();\n    }\n")},
        GateCase{"OddBlock", "no-power-of-two", reducing(plainTree, "float", "96")},
        GateCase{"UnknownBlock", "unknown-block", reducing(plainTree, "float", "n")},
        GateCase{"SquareBlock", "two-dimensional", reducing(plainTree, "float", "dim3(16, 16)")},
        GateCase{"PartOfTheBlock", "extent-not-block",
                 reducing("    for (int s = 1; s < 128; s *= 2) {\n        if (tid % (2 * s) == 0) "
                          "a[tid] += a[tid + s];\n        __syncthreads();\n    }\n")},
        GateCase{"ExtentNotKnown", "unknown-extent",
                 reducing("    for (int s = 1; s < n; s *= 2) {\n        if (tid % (2 * s) == 0) "
                          "a[tid] += a[tid + s];\n        __syncthreads();\n    }\n")},
        GateCase{"PartialSumsUsed", "array-read-after",
                 reducing(plainTree, "float", "256", "    out[tid] = a[tid];\n")},
        GateCase{
            "FirstOfALastTree", "array-read-after",
            reducing("    for (i = 2; i <= THREADS; i = 2 * i) {\n        if ((tid + 1) % i == 0) "
                     "a[tid] += a[tid - i / 2];\n        __syncthreads();\n    }\n")},
        GateCase{"PointerKept", "array-escapes",
                 reducing(plainTree, "float", "256", "    float* p = a;\n    out[0] = p[0];\n")},
        GateCase{
            "StrideUsed", "stride-used-after",
            reducing("    int s = 1;\n    for (; s < blockDim.x; s *= 2) {\n        if (tid % (2 * "
                     "s) == 0) a[tid] += a[tid + s];\n        __syncthreads();\n    }\n",
                     "float", "256", "    out[s] = a[0];\n")},
        GateCase{"NoLaunch", "no-launch",
                 "__global__ void k(float* out) {\n    __shared__ float a[64];\n    int tid = "
                 "threadIdx.x;\n    a[tid] = out[tid];\n    __syncthreads();\n" +
                     plainTree + "    out[0] = a[0];\n}\n"},
        GateCase{"Macro", "from-macro",
                 "#define TREE for (int s = 1; s < blockDim.x; s *= 2) { if (tid % (2 * s) == 0) "
                 "a[tid] += a[tid + s]; __syncthreads(); }\n" +
                     reducing("    TREE\n")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
