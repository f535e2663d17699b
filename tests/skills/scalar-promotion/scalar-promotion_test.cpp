#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "scalar-promotion";

constexpr std::string_view launch =
    "void run(int m, int n) {\n    float *a, *b, *c;\n    cudaMalloc(&a, n);\n"
    "    cudaMalloc(&b, n);\n    cudaMalloc(&c, n);\n    k<<<m / 256, 256>>>(a, b, c, m, n);\n}\n";

/// A kernel with `body`, launched with three allocations.
std::string
kernel(const std::string& body,
       const std::string& parameters = "const float* a, const float* b, float* c, int m, int n") {
    return "__global__ void k(" + parameters + ") {\n" + body + "}\n" + std::string{launch};
}

const std::string position = "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n";

TEST(ScalarPromotion, TakesWhatStandsBesideTheLoop) {
    checkApplicable(id,
                    kernel(position + "    if (i >= m) return;\n"
                                      "    c[i] *= 0.5f; // half\n"
                                      "    int j;\n"
                                      "    for (j = 0; j < n; j++)\n"
                                      "        c[i] += a[i * n + j] * b[j];\n"
                                      "    c[i] /= n;\n"
                                      "    if (c[i] < 1.0f) {\n"
                                      "        c[i] = 1.0f;\n"
                                      "    }\n"),
                    kernel(position + "    if (i >= m) return;\n"
                                      "    float sum = c[i];\n"
                                      "    sum *= 0.5f; // half\n"
                                      "    int j;\n"
                                      "    for (j = 0; j < n; j++)\n"
                                      "        sum += a[i * n + j] * b[j];\n"
                                      "    sum /= n;\n"
                                      "    if (sum < 1.0f) {\n"
                                      "        sum = 1.0f;\n"
                                      "    }\n"
                                      "    c[i] = sum;\n"));
}

TEST(ScalarPromotion, TakesTheOutermostLoopThatKeepsToTheElement) {
    checkApplicable(id,
                    kernel(position + "    if (i < m) {\n"
                                      "        c[i] = a[i];\n"
                                      "        for (int y = 0; y < 3; ++y)\n"
                                      "            for (int x = 0; x < n; ++x)\n"
                                      "                c[i] += b[y * n + x];\n"
                                      "    }\n"),
                    kernel(position + "    if (i < m) {\n"
                                      "        float sum = a[i];\n"
                                      "        for (int y = 0; y < 3; ++y)\n"
                                      "            for (int x = 0; x < n; ++x)\n"
                                      "                sum += b[y * n + x];\n"
                                      "        c[i] = sum;\n"
                                      "    }\n"));
}

TEST(ScalarPromotion, FollowsMovedPointersAndReadsOnly) {
    checkApplicable(id,
                    kernel(position + "    if (i >= m) return;\n"
                                      "    float* row = c + i * n;\n"
                                      "    for (int j = 0; j < 8; ++j)\n"
                                      "        row[j] = a[i * 8 + j] * b[0];\n"),
                    kernel(position + "    if (i >= m) return;\n"
                                      "    float* row = c + i * n;\n"
                                      "    const float bValue = b[0];\n"
                                      "    for (int j = 0; j < 8; ++j)\n"
                                      "        row[j] = a[i * 8 + j] * bValue;\n"));
}

TEST(ScalarPromotion, TakesIndicesOutOfMacros) {
    checkApplicable(id,
                    "#define N 512\n#define T float\n" +
                        kernel(position + "    if (i < N) {\n"
                                          "        for (int j = 0; j < N; ++j)\n"
                                          "            c[i * N] += a[i * N + j] * b[j];\n"
                                          "    }\n",
                               "T* a, T* b, T* c, int m, int n"),
                    "#define N 512\n#define T float\n" +
                        kernel(position + "    if (i < N) {\n"
                                          "        float sum = c[i * N];\n"
                                          "        for (int j = 0; j < N; ++j)\n"
                                          "            sum += a[i * N + j] * b[j];\n"
                                          "        c[i * N] = sum;\n"
                                          "    }\n",
                               "T* a, T* b, T* c, int m, int n"));
}

TEST(ScalarPromotion, TakesSeveralElementsOfALoop) {
    const std::string text = appliedText(
        id, "__global__ void k(float* a, float* b, float* c, int m, int n) {\n" + position +
                "    if (i < n) {\n"
                "        for (int j = 0; j < n; ++j) {\n"
                "            b[i] += a[i * n + j];\n"
                "            c[i] += a[j * n + i];\n"
                "        }\n"
                "        c[i] = c[i] + 2 * b[i];\n"
                "    }\n}\n" +
                std::string{launch});
    EXPECT_TRUE(text.contains("        float bValue = b[i];\n        float cValue = c[i];\n"
                              "        for (int j = 0; j < n; ++j) {\n"
                              "            bValue += a[i * n + j];\n"
                              "            cValue += a[j * n + i];\n"
                              "        }\n"
                              "        cValue = cValue + 2 * bValue;\n"
                              "        b[i] = bValue;\n        c[i] = cValue;\n"))
        << text;
}

TEST(ScalarPromotion, LeavesOtherElementsOfTheArray) {
    const std::string text = appliedText(id, kernel(position + "    if (i >= m) return;\n"
                                                               "    c[2 * i] = 0;\n"
                                                               "    for (int j = 0; j < n; ++j) {\n"
                                                               "        c[2 * i] += a[j] * b[j];\n"
                                                               "        c[2 * i + 1] = a[j];\n"
                                                               "    }\n"));
    EXPECT_TRUE(text.contains("c[2 * i + 1] = a[j];")) << text;
    EXPECT_TRUE(text.contains("    c[2 * i] = cValue;\n") || text.contains("    c[2 * i] = sum;\n"))
        << text;
}

TEST(ScalarPromotion, IsAboutTheLoop) {
    checkTarget(id,
                kernel(position + "    if (i < m) {\n        c[i] = 0;\n"
                                  "        for (int j = 0; j < n; ++j) c[i] += a[j] * b[j];\n"
                                  "    }\n"),
                "for (int j = 0; j < n; ++j) c[i] += a[j] * b[j];");
}

class ScalarPromotionGates : public ::testing::TestWithParam<GateCase> {};

TEST_P(ScalarPromotionGates, Refuses) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

std::string summed(const std::string& inLoop) {
    return kernel(position +
                  "    if (i >= m) return;\n    c[i] = 0;\n"
                  "    for (int j = 0; j < n; ++j) {\n        c[i] += a[j] * b[j];\n" +
                  inLoop + "    }\n");
}

INSTANTIATE_TEST_SUITE_P(
    All, ScalarPromotionGates,
    ::testing::Values(
        GateCase{"Restrict", "no-kept-element",
                 kernel(position + "    c[i] = 0;\n    for (int j = 0; j < n; ++j) c[i] += a[j];\n",
                        "const float* a, const float* b, float* __restrict__ c, int m, int n")},
        GateCase{"NoLoop", "no-kept-element", kernel(position + "    c[i] += a[i];\n")},
        GateCase{"Moving", "no-kept-element",
                 kernel(position + "    for (int j = 0; j < n; ++j) c[j] += a[i];\n",
                        "const int* a, const float* b, float* c, int m, int n")},
        GateCase{"OneBuffer", "may-alias",
                 "__global__ void k(const float* a, float* c, int n) {\n" + position +
                     "    c[i] = 0;\n    for (int j = 0; j < n; ++j) c[i] += a[j];\n}\n"
                     "void run(float* p) { k<<<1, 32>>>(p, p, 32); }\n"},
        GateCase{"NoLaunch", "may-alias",
                 "__global__ void k(const float* a, float* c, int n) {\n" + position +
                     "    c[i] = 0;\n    for (int j = 0; j < n; ++j) c[i] += a[j];\n}\n"},
        GateCase{"AnotherElement", "may-alias", summed("        c[j] = a[j];\n")},
        GateCase{"Barrier", "ordered-memory", summed("        __syncthreads();\n")},
        GateCase{"Fence", "ordered-memory", summed("        __threadfence();\n")},
        GateCase{"Assembly", "unknown-effects",
                 summed("        asm volatile(\"\" ::: \"memory\");\n")},
        GateCase{"Return", "leaves-loop", summed("        if (a[j] < 0) return;\n")},
        GateCase{"MayNotRun", "may-not-run",
                 kernel(position + "    if (i >= m) return;\n"
                                   "    for (int j = 0; j < n; ++j)\n"
                                   "        c[i] += a[j] * b[j];\n")},
        GateCase{"Conditional", "may-not-run",
                 kernel(position + "    if (i >= m) return;\n"
                                   "    for (int j = 0; j < 8; ++j)\n"
                                   "        if (a[j] > 0) c[i] += a[j] * b[j];\n")},
        GateCase{"NoBlock", "several-statements-a-line",
                 kernel(position + "    if (i < n)\n        for (int j = 0; j < n; ++j)\n"
                                   "            c[i] += a[j] * b[j];\n")}),
    [](const auto& tested) { return tested.param.name; });

TEST(ScalarPromotion, AllowsABreakOutOfTheLoopItself) {
    EXPECT_TRUE(appliedText(id, summed("        if (a[j] < 0) break;\n")).contains("sum += a[j]"));
}

TEST(ScalarPromotion, SaysWhatARoundCosts) {
    const Subject subject = parseSubject(summed(""));
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    EXPECT_EQ(offer->title, "Keep c[i] in a register during the loop");
    ASSERT_TRUE(offer->gain);
    EXPECT_DOUBLE_EQ(offer->gain->factor, 2);
    EXPECT_EQ(offer->gain->basis, "a round has 2 loads and stores instead of 4");
    EXPECT_EQ(offer->numerics, Numerics::Exact);
}

} // namespace
} // namespace kernelskill::skills
