#include "tests/skills/skill_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view id = "split-reduction";

const std::string index = "    int j = blockIdx.x * blockDim.x + threadIdx.x;\n";

/// A kernel on columns, launched in blocks of `block` with three allocations.
std::string kernel(const std::string& body, const std::string& block = "256",
                   const std::string& grid = "(m + 255) / 256") {
    return "__global__ void k(const float* a, const float* b, float* c, int m, int n) {\n" + body +
           "}\nvoid run(int m, int n) {\n    float *a, *b, *c;\n    cudaMalloc(&a, n);\n" +
           "    cudaMalloc(&b, n);\n    cudaMalloc(&c, n);\n    k<<<" + grid + ", " + block +
           ">>>(a, b, c, m, n);\n}\n";
}

std::string head(const std::string& arrays, const std::string& axis = "y") {
    return "    constexpr int parts = 16;\n" + arrays + "    const int part = threadIdx." + axis +
           ";\n";
}

std::string splitKernel(const std::string& body) {
    return kernel(body, "dim3(32, 16)", "(m + 255) / 256 * 8");
}

TEST(SplitReduction, GivesWorkToThreadsThatDoTheSame) {
    const std::string text =
        appliedText(id, kernel(index + "    if (j < m) {\n        c[j] = 0;\n"
                                       "        for (int i = 0; i < n; ++i)\n"
                                       "            c[j] += a[i * m + j] * b[i];\n    }\n",
                               "dim3(32, 8)", "(m + 31) / 32"));
    EXPECT_TRUE(text.contains("k<<<(m + 31) / 32, dim3(32, 16)>>>(a, b, c, m, n);")) << text;
    EXPECT_TRUE(text.contains("const int part = threadIdx.y;")) << text;
    EXPECT_TRUE(text.contains("float partialSum[parts][32];")) << text;
    EXPECT_TRUE(text.contains("for (int i = part; i < n; i += parts)")) << text;
}

TEST(SplitReduction, FoldsIntoMemoryByWayOfRegisters) {
    checkApplicable(id,
                    kernel(index + "    if (j < m)\n    {\n"
                                   "        c[j] = 0;\n"
                                   "        int i;\n"
                                   "        for (i = 0; i < n; i++)\n"
                                   "        {\n"
                                   "            c[j] += a[i * m + j] * b[i];\n"
                                   "        }\n"
                                   "        c[j] /= n;\n"
                                   "    }\n"),
                    splitKernel(head("    __shared__ float partialSum[parts][32];\n") + index +
                                "    float sum;\n"
                                "    if (j < m)\n    {\n"
                                "        sum = 0;\n"
                                "        int i;\n"
                                "        for (i = part; i < n; i += parts)\n"
                                "        {\n"
                                "            sum += a[i * m + j] * b[i];\n"
                                "        }\n"
                                "        partialSum[part][threadIdx.x] = sum;\n"
                                "    }\n"
                                "    __syncthreads();\n"
                                "    if (j < m && part == 0)\n    {\n"
                                "        sum = partialSum[0][threadIdx.x];\n"
                                "        for (int other = 1; other < parts; ++other)\n"
                                "            sum += partialSum[other][threadIdx.x];\n"
                                "        sum /= n;\n"
                                "        c[j] = sum;\n"
                                "    }\n"));
}

TEST(SplitReduction, KeepsThreadsThatReturnedEarly) {
    checkApplicable(id,
                    kernel(index + "    if (j >= m) return;\n"
                                   "    const float scale = b[j];\n"
                                   "    float most = a[j];\n"
                                   "    for (int i = 1; i < n; ++i)\n"
                                   "        most = fmaxf(most, a[i * m + j]);\n"
                                   "    float sum = 0;\n"
                                   "    for (int i = 0; i < n; ++i)\n"
                                   "        sum += expf(a[i * m + j] - most);\n"
                                   "    c[j] = sum * scale;\n"),
                    splitKernel(head("    __shared__ float partialMost[parts][32];\n"
                                     "    __shared__ float partialSum[parts][32];\n") +
                                index +
                                "    float sum = 0;\n"
                                "    float scale;\n"
                                "    float most;\n"
                                "    if (j < m) {\n"
                                "        scale = b[j];\n"
                                "        most = a[j];\n"
                                "        for (int i = 1 + part; i < n; i += parts)\n"
                                "            most = fmaxf(most, a[i * m + j]);\n"
                                "        partialMost[part][threadIdx.x] = most;\n"
                                "    }\n"
                                "    __syncthreads();\n"
                                "    if (j < m) {\n"
                                "        most = partialMost[0][threadIdx.x];\n"
                                "        for (int other = 1; other < parts; ++other)\n"
                                "            most = fmaxf(most, partialMost[other][threadIdx.x]);\n"
                                "        for (int i = part; i < n; i += parts)\n"
                                "            sum += expf(a[i * m + j] - most);\n"
                                "        partialSum[part][threadIdx.x] = sum;\n"
                                "    }\n"
                                "    __syncthreads();\n"
                                "    if (j < m && part == 0) {\n"
                                "        sum = partialSum[0][threadIdx.x];\n"
                                "        for (int other = 1; other < parts; ++other)\n"
                                "            sum += partialSum[other][threadIdx.x];\n"
                                "        c[j] = sum * scale;\n"
                                "    }\n"));
}

TEST(SplitReduction, LetsAllThreadsGoOnToASharedLoop) {
    const std::string text =
        appliedText(id, kernel(index + "    if (j < m) {\n        float sum = b[j];\n"
                                       "        for (int i = 0; i < n; ++i)\n"
                                       "            sum += a[i * m + j];\n"
                                       "        for (int i = 0; i < n; ++i)\n"
                                       "            c[i * m + j] = a[i * m + j] / sum;\n    }\n"));
    EXPECT_TRUE(text.contains("        if (part != 0)\n            sum = 0.0f;\n")) << text;
    EXPECT_TRUE(text.contains("    __syncthreads();\n    if (j < m) {\n")) << text;
    EXPECT_TRUE(text.contains("        for (int i = part; i < n; i += parts)\n"
                              "            c[i * m + j] = a[i * m + j] / sum;\n"))
        << text;
}

TEST(SplitReduction, LetsAllThreadsGoOnToASharedLoopBehindTheCheck) {
    const std::string text =
        appliedText(id, kernel(index + "    float sum = 0;\n    if (j < m) {\n"
                                       "        for (int i = 0; i < n; ++i)\n"
                                       "            sum += a[i * m + j];\n    }\n"
                                       "    for (int i = 0; i < n; ++i)\n"
                                       "        c[i * 4096 + j] = sum;\n"));
    EXPECT_FALSE(text.contains("part == 0")) << text;
    EXPECT_TRUE(text.contains("    for (int i = part; i < n; i += parts)\n"
                              "        c[i * 4096 + j] = sum;\n"))
        << text;
}

TEST(SplitReduction, TakesConstantWidthsAndFurtherAxes) {
    const std::string wide = appliedText(
        id, kernel("    int j = blockIdx.x * 128 + threadIdx.x;\n    if (j < m) {\n"
                   "        float sum = 0;\n"
                   "        for (int i = 0; i < n; i += 2)\n            sum += a[i * m + j];\n"
                   "        c[j] = sum;\n    }\n",
                   "128", "(m + 127) / 128"));
    EXPECT_TRUE(wide.contains("__shared__ float partialSum[parts][128];\n")) << wide;
    EXPECT_TRUE(wide.contains("constexpr int parts = 8;\n")) << wide;
    EXPECT_TRUE(wide.contains("for (int i = part * 2; i < n; i += 2 * parts)\n")) << wide;
    EXPECT_TRUE(wide.contains("k<<<(m + 127) / 128, dim3(128, 8)>>>")) << wide;
    const std::string plane =
        appliedText(id, kernel("    int j = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    int l = blockIdx.y * blockDim.y + threadIdx.y;\n"
                               "    if (j < 128 && l < 64) {\n        float sum = 0;\n"
                               "        for (int i = 0; i < n; ++i)\n"
                               "            sum += a[i * m + j] * b[l * n + i];\n"
                               "        c[l * m + j] = sum;\n    }\n",
                               "dim3(32, 8)", "dim3(4, 8)"));
    EXPECT_TRUE(plane.contains("__shared__ float partialSum[parts][8][32];\n")) << plane;
    EXPECT_TRUE(plane.contains("const int part = threadIdx.z;\n")) << plane;
    EXPECT_TRUE(plane.contains("partialSum[part][threadIdx.y][threadIdx.x] = sum;\n")) << plane;
    EXPECT_TRUE(plane.contains("dim3(32, 8, 4)>>>")) << plane;
}

TEST(SplitReduction, StaysWhereAllThreadsCome) {
    checkApplicable(id,
                    kernel("    const size_t j = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "    float x = b[j];\n"
                           "    for (int r = 0; r < m; ++r) {\n"
                           "        float sum = 0;\n"
                           "        for (int i = 0; i < n; ++i)\n"
                           "            sum += a[i * 4096 + j];\n"
                           "        x = sum * x + 1;\n"
                           "    }\n"
                           "    c[j] = x;\n",
                           "256", "16"),
                    kernel("    constexpr int parts = 32;\n"
                           "    __shared__ float partialSum[parts][32];\n"
                           "    const int part = threadIdx.y;\n"
                           "    const size_t j = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "    float x = b[j];\n"
                           "    for (int r = 0; r < m; ++r) {\n"
                           "        float sum = 0;\n"
                           "        for (int i = part; i < n; i += parts)\n"
                           "            sum += a[i * 4096 + j];\n"
                           "        __syncthreads();\n"
                           "        partialSum[part][threadIdx.x] = sum;\n"
                           "        __syncthreads();\n"
                           "        sum = partialSum[0][threadIdx.x];\n"
                           "        for (int other = 1; other < parts; ++other)\n"
                           "            sum += partialSum[other][threadIdx.x];\n"
                           "        x = sum * x + 1;\n"
                           "    }\n"
                           "    if (part == 0)\n"
                           "        c[j] = x;\n",
                           "dim3(32, 32)", "16 * 8"));
}

TEST(SplitReduction, FindsPlacesOfExtremes) {
    const std::string text = appliedText(
        id, kernel(index + "    if (j < m) {\n        int found = 0;\n        float least = a[j];\n"
                           "        for (int i = 1; i < n; ++i)\n"
                           "            if (a[i * m + j] < least) {\n"
                           "                least = a[i * m + j];\n"
                           "                found = i;\n            }\n"
                           "        c[j] = found;\n    }\n"));
    EXPECT_TRUE(text.contains("            const float otherLeast = partialLeast[other]["
                              "threadIdx.x];\n"))
        << text;
    EXPECT_TRUE(text.contains("        found = partialFound[0][threadIdx.x];\n")) << text;
}

TEST(SplitReduction, KeepsAnExtremeOfWhichOnlyThePlaceIsAskedFor) {
    const std::string text = appliedText(
        id,
        kernel(index + "    if (j < m) {\n        int found = 0;\n        float least = 1e30f;\n"
                       "        for (int i = 0; i < n; ++i)\n"
                       "            if (a[i * m + j] < least) {\n"
                       "                least = a[i * m + j];\n"
                       "                found = i;\n            }\n"
                       "        c[j] = found;\n    }\n"));
    EXPECT_TRUE(text.contains("    float least = 1e30f;\n    if (j < m) {\n")) << text;
}

TEST(SplitReduction, WaitsWhereThreadsReadWhatOthersStored) {
    const std::string text =
        appliedText(id, kernel(index + "    if (j < m) {\n"
                                       "        for (int i = 0; i < n; ++i)\n"
                                       "            c[i * m + j] = a[i * m + j];\n"
                                       "        float sum = 0;\n"
                                       "        for (int i = 0; i < n - 1; ++i)\n"
                                       "            sum += c[(i + 1) * m + j];\n    }\n"));
    EXPECT_TRUE(text.contains("            c[i * m + j] = a[i * m + j];\n    }\n    "
                              "__syncthreads();\n    if (j < m) {\n"))
        << text;
}

TEST(SplitReduction, ChoosesAsManyThreadsAsFillAGpu) {
    const auto source = [](const std::string& grid) {
        return kernel(index + "    if (j < m) {\n        float sum = 0;\n"
                              "        for (int i = 0; i < n; ++i)\n"
                              "            sum += a[i * m + j];\n        c[j] = sum;\n    }\n",
                      "256", grid);
    };
    const Subject few = parseSubject(source("16"));
    const auto offer = skillNamed(id).prepare(few.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    EXPECT_EQ(offer->option, 32);
    EXPECT_EQ(skillNamed(id).alternatives(few.context()).size(), 4U);
    EXPECT_EQ(offer->why, "the 4096 threads of k make all rounds of the loop on line 5 one after "
                          "another; 32 threads of a block can share them and fold sum in shared "
                          "memory");
    const Subject more = parseSubject(source("100"));
    EXPECT_EQ(skillNamed(id).prepare(more.context())->option, 8);
    const Subject full = parseSubject(source("1000"));
    EXPECT_EQ(skillNamed(id).prepare(full.context()).error().gate, "enough-threads");
    EXPECT_EQ(skillNamed(id).alternatives(full.context()).size(), 2U);
}

TEST(SplitReduction, SaysThatThreadsAreARowApartOnlyWhereTheyAre) {
    const auto reasonOf = [](const std::string& walked) {
        const Subject subject =
            parseSubject(kernel(index +
                                "    if (j < m) {\n        float sum = 0;\n"
                                "        for (int i = 0; i < n; ++i)\n            sum += a[" +
                                walked + "];\n        c[j] = sum;\n    }\n"));
        const Gated<Offer> offer = skillNamed(id).prepare(subject.context());
        return offer ? std::string("offered") : offer.error().reason;
    };
    EXPECT_THAT(reasonOf("j * n + i"), HasSubstr("a row apart"));
    for (const char* walked : {"j % 48 + i", "j / 48 * n + j % 48 + i"})
        EXPECT_THAT(reasonOf(walked), AllOf(HasSubstr("how far apart"), Not(HasSubstr("a row"))))
            << walked;
}

class SplitReductionGates : public ::testing::TestWithParam<GateCase> {};

TEST_P(SplitReductionGates, Refuses) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

std::string walking(const std::string& guard, const std::string& inLoop = "",
                    const std::string& behind = "", const std::string& block = "256") {
    return kernel(index + guard +
                      " {\n        float sum = 0;\n        for (int i = 0; i < n; ++i) "
                      "{\n            sum += a[i * m + j];\n" +
                      inLoop + "        }\n        c[j] = sum;\n" + behind + "    }\n",
                  block);
}

INSTANTIATE_TEST_SUITE_P(
    All, SplitReductionGates,
    ::testing::Values(
        GateCase{"Rows", "uncoalesced",
                 kernel(index + "    if (j < m) {\n        float sum = 0;\n"
                                "        for (int i = 0; i < n; ++i)\n"
                                "            sum += a[j * n + i];\n        c[j] = sum;\n    }\n")},
        GateCase{"DeeperLoop", "unshared-work",
                 kernel(index + "    if (j < m) {\n        float sum = 1;\n"
                                "        for (int i = 1; i < n; ++i)\n"
                                "            for (int r = 0; r < i; ++r)\n"
                                "                sum = r - sum / 2;\n"
                                "        for (int i = 0; i < n; ++i)\n"
                                "            sum += a[i * m + j];\n        c[j] = sum;\n    }\n")},
        GateCase{"Shared", "shares-memory",
                 walking("    __shared__ float s[4];\n    s[0] = 1;\n    if (j < m)")},
        GateCase{"Recurrence", "carries-over",
                 walking("    if (j < m)", "            sum = a[i] - sum;\n")},
        GateCase{"Memory", "guard", walking("    if (b[j] > 0)")},
        GateCase{"Changed", "guard",
                 walking("    int last = m;\n    if (j < last)", "", "        last = 0;\n")},
        GateCase{"Else", "guard", walking("    if (j < 0)\n        return;\n    else if (j < m)")},
        GateCase{"TwoGuards", "guard", walking("    if (j >= m) return;\n    if (j > 3)")},
        GateCase{"UnevenRounds", "guard", walking("    for (int r = 0; r < j; ++r)")},
        GateCase{"FullBlocks", "full-blocks",
                 kernel("    int j = blockIdx.x * 1024 + threadIdx.x;\n    if (j < m) {\n"
                        "        float sum = 0;\n        for (int i = 0; i < n; ++i)\n"
                        "            sum += a[i * m + j];\n        c[j] = sum;\n    }\n",
                        "1024")},
        GateCase{"AllAxes", "no-free-axis", walking("    if (j + threadIdx.y + threadIdx.z < m)")},
        GateCase{"IdleThreadsThatAdd", "redundant-threads",
                 kernel(index + "    if (j < m) {\n        c[j] += 1;\n"
                                "        for (int i = 0; i < n; ++i)\n"
                                "            c[j] += a[i * m + j];\n    }\n",
                        "dim3(32, 8)")},
        GateCase{"IdleThreadsTwice", "redundant-threads",
                 kernel(index + "    if (j < m) {\n        float sum = 0;\n"
                                "        for (int i = 0; i < n; ++i)\n"
                                "            sum += a[i * m + j];\n        c[j] = sum;\n    }\n",
                        "dim3(32, 4, 2)")},
        GateCase{"UnknownBlock", "unknown-block", walking("    if (j < m)", "", "", "m")},
        GateCase{"Reference", "declaration",
                 kernel(index + "    if (j < m) {\n        const float& scale = b[j];\n"
                                "        float sum = 0;\n        for (int i = 0; i < n; ++i)\n"
                                "            sum += a[i * m + j];\n"
                                "        c[j] = sum * scale;\n    }\n")},
        GateCase{"BlocksDiffer", "blocks-differ",
                 walking("    if (j < m)") +
                     "void again(float* x, float* y, float* z, int m, int n) {\n"
                     "    k<<<(m + 127) / 128, 128>>>(x, y, z, m, n);\n}\n"}),
    [](const auto& tested) { return tested.param.name; });

} // namespace
} // namespace kernelskill::skills
