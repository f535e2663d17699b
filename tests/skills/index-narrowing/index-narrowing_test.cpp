#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "index-narrowing";

const std::string intLaunch = "void run(const float* x, float* y, int n, int w, int h) {\n"
                              "    k<<<(n + 255) / 256, 256>>>(x, y, n, w, h);\n}\n";

/// A kernel with three extents of `type`, launched with those of `launch`.
std::string kernel(const std::string& type, const std::string& body,
                   const std::string& launch = intLaunch) {
    return "__global__ void k(const float* x, float* y, " + type + " n, " + type + " w, " + type +
           " h) {\n" + body + "}\n" + launch;
}

const std::string position = "    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;\n";

TEST(IndexNarrowing, TakesFlatIndicesBehindAnEarlyReturn) {
    checkApplicable(id,
                    kernel("int", position + "    if (i >= n) return;\n"
                                             "    size_t c = i % w, r = (i / w) % h;\n"
                                             "    y[i] = x[(r * w + c) * 2] + i / w / h % n;\n"),
                    kernel("int", position + "    if (i >= n) return;\n"
                                             "    size_t c = (unsigned)i % w, "
                                             "r = ((unsigned)i / w) % h;\n"
                                             "    y[i] = x[(r * w + c) * 2] + "
                                             "(unsigned)i / w / h % n;\n"));
}

TEST(IndexNarrowing, TakesTypesAndGuards) {
    checkApplicable(id,
                    kernel("int",
                           position + "    if (i < n) {\n"
                                      "        size_t r = i / w;\n"
                                      "        y[r] = x[i % h] + x[i / (n + 1)];\n"
                                      "    }\n",
                           ""),
                    kernel("int",
                           position + "    if (i < n) {\n"
                                      "        size_t r = (unsigned)i / w;\n"
                                      "        y[r] = x[(unsigned)i % h] + "
                                      "x[(unsigned)i / (n + 1)];\n"
                                      "    }\n",
                           ""));
}

TEST(IndexNarrowing, KeepsSignedNumbersSigned) {
    const std::string before = "    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (i >= n)\n        return;\n"
                               "    for (int64_t k = 0; k < w; k++)\n";
    checkApplicable(id, kernel("int", before + "        y[i] += x[(i - k) % h];\n"),
                    kernel("int", before + "        y[i] += x[(int)(i - k) % h];\n"));
}

TEST(IndexNarrowing, FollowsALoopOverTheGridAndWhatDivisionsLeave) {
    const std::string head =
        "    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
        "         i += (size_t)gridDim.x * blockDim.x) {\n"
        "        size_t rest = i;\n";
    checkApplicable(id,
                    kernel("int", head + "        const size_t c = rest % w;\n"
                                         "        rest /= w;\n"
                                         "        y[i] = x[c * h + rest % h] + x[i % n];\n"
                                         "    }\n"),
                    kernel("int", head + "        const size_t c = (unsigned)rest % w;\n"
                                         "        rest = (unsigned)rest / w;\n"
                                         "        y[i] = x[c * h + (unsigned)rest % h] + "
                                         "x[(unsigned)i % n];\n"
                                         "    }\n"));
}

TEST(IndexNarrowing, TakesTypesAlone) {
    const std::string flat = "    size_t i = blockIdx.x * blockDim.x + threadIdx.x;\n";
    checkApplicable(id,
                    kernel("unsigned", flat + "    unsigned c = i % (w * h);\n"
                                              "    i = i / (w * h);\n"
                                              "    unsigned r = i % h;\n"
                                              "    i /= h;\n"
                                              "    y[i % n] = x[c + r];\n"),
                    kernel("unsigned", flat + "    unsigned c = (unsigned)i % (w * h);\n"
                                              "    i = (unsigned)i / (w * h);\n"
                                              "    unsigned r = (unsigned)i % h;\n"
                                              "    i = (unsigned)i / h;\n"
                                              "    y[(unsigned)i % n] = x[c + r];\n"));
}

TEST(IndexNarrowing, KeepsTheWidthOfWhatIsComputedFurther) {
    const std::string text =
        appliedText(id, kernel("int", position + "    if (i >= n) return;\n"
                                                 "    auto r = i / w;\n"
                                                 "    y[i % w * 1000] = x[-(i % h)] + r / n;\n"));
    EXPECT_TRUE(text.contains("auto r = (size_t)((unsigned)i / w);")) << text;
    EXPECT_TRUE(text.contains("y[(size_t)((unsigned)i % w) * 1000]")) << text;
    EXPECT_TRUE(text.contains("x[-(size_t)((unsigned)i % h)] + (unsigned)r / n;")) << text;
}

TEST(IndexNarrowing, CastsWideDivisorsThatFit) {
    const std::string text =
        appliedText(id, kernel("int", position + "    if (i >= n) return;\n"
                                                 "    const size_t width = (unsigned)w;\n"
                                                 "    for (int k = 0; k < 9; ++k)\n"
                                                 "        y[k] += x[i / width];\n"));
    EXPECT_TRUE(text.contains("        y[k] += x[(unsigned)i / (unsigned)width];\n")) << text;
}

TEST(IndexNarrowing, IsAboutTheLoop) {
    checkTarget(id,
                kernel("int", position + "    if (i >= n) return;\n"
                                         "    for (int k = 0; k < 8; ++k) y[k] += x[i % w];\n"),
                "for (int k = 0; k < 8; ++k) y[k] += x[i % w];");
}

class IndexNarrowingGates : public ::testing::TestWithParam<GateCase> {};

TEST_P(IndexNarrowingGates, Refuses) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

const std::string twice = "    if (i < n) y[i / w] = x[i % h];\n";

INSTANTIATE_TEST_SUITE_P(
    All, IndexNarrowingGates,
    testing::Values(
        GateCase{"NarrowAlready", "no-wide-division",
                 kernel("int", "    int i = threadIdx.x;\n" + twice)},
        GateCase{"ByConstants", "no-wide-division",
                 kernel("size_t", position + "    if (i < n) y[i / 12] = x[i % 100];\n")},
        GateCase{"WideExtents", "unknown-extent", kernel("size_t", position + twice)},
        GateCase{"NoGuard", "unknown-extent",
                 kernel("int", position + "    y[i / w] = x[i % h];\n")},
        GateCase{"ProductsOfExtents", "unknown-extent",
                 kernel("int", position + "    if (i < n) y[i * w / h] = x[i * h % w];\n")},
        GateCase{"GrowsInALoop", "unknown-extent",
                 kernel("int", position + "    if (i >= n) return;\n"
                                          "    for (int k = 0; k < 9; ++k) {\n"
                                          "        y[i / w] += x[i % h];\n"
                                          "        i += w;\n    }\n")},
        GateCase{"ReturnsOnlySometimes", "unknown-extent",
                 kernel("int", position + "    if (i >= n && w > 3) return;\n"
                                          "    y[i / w] = x[i % h] + x[i / h];\n")},
        GateCase{"FromMacro", "from-macro",
                 "#define ROW(i) ((i) / w)\n" +
                     kernel("int", position + "    if (i < n) y[ROW(i)] += 1;\n")},
        GateCase{"TwoDivisions", "few-divisions", kernel("int", position + twice)},
        GateCase{"SignedOutsideOfLoops", "few-divisions",
                 kernel("int", "    int64_t i = threadIdx.x, k = i - 5;\n"
                               "    y[i] = x[k / n] + x[k / w] + x[k / h];\n")}),
    [](const testing::TestParamInfo<GateCase>& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
