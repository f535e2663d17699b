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

TEST(IndexNarrowing, TakesWhatLaunchesPass) {
    checkApplicable(id,
                    kernel("size_t", position + "    if (i >= n) return;\n"
                                                "    size_t c = i % w, r = (i / w) % h;\n"
                                                "    y[i] = x[(r * w + c) * 2] + i / w / h % n;\n"),
                    kernel("size_t", position + "    if (i >= n) return;\n"
                                                "    size_t c = (unsigned)i % (unsigned)w, "
                                                "r = ((unsigned)i / (unsigned)w) % (unsigned)h;\n"
                                                "    y[i] = x[(r * w + c) * 2] + "
                                                "(unsigned)i / (unsigned)w / (unsigned)h % "
                                                "(unsigned)n;\n"));
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
    checkApplicable(id,
                    kernel("int64_t", "    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                      "    if (i >= n)\n        return;\n"
                                      "    for (int64_t k = 0; k < w; k++)\n"
                                      "        y[i] += x[(i - k) % h];\n"),
                    kernel("int64_t", "    int64_t i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                      "    if (i >= n)\n        return;\n"
                                      "    for (int64_t k = 0; k < w; k++)\n"
                                      "        y[i] += x[(int)(i - k) % (int)h];\n"));
}

TEST(IndexNarrowing, FollowsALoopOverTheGridAndWhatDivisionsLeave) {
    checkApplicable(
        id,
        kernel("long long",
               "    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
               "         i += (long long)gridDim.x * blockDim.x) {\n"
               "        long long rest = i;\n"
               "        const long long c = rest % w;\n"
               "        rest /= w;\n"
               "        y[i] = x[c * h + rest % h] + x[i % h];\n"
               "    }\n",
               "void run(const float* x, float* y) {\n"
               "    const long long n = 1 << 20;\n"
               "    k<<<1024, 256>>>(x, y, n, 1024, 64LL);\n}\n"),
        kernel("long long",
               "    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
               "         i += (long long)gridDim.x * blockDim.x) {\n"
               "        long long rest = i;\n"
               "        const long long c = (unsigned)rest % (unsigned)w;\n"
               "        rest = (unsigned)rest / (unsigned)w;\n"
               "        y[i] = x[c * h + (unsigned)rest % (unsigned)h] + "
               "x[(unsigned)i % (unsigned)h];\n"
               "    }\n",
               "void run(const float* x, float* y) {\n"
               "    const long long n = 1 << 20;\n"
               "    k<<<1024, 256>>>(x, y, n, 1024, 64LL);\n}\n"));
}

TEST(IndexNarrowing, FollowsPositionsThatMoveAtTheEndOfARound) {
    const std::string body = "    size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;\n"
                             "    while (i < n) {\n"
                             "        for (int k = 0; k < 4; ++k)\n"
                             "            y[i] += x[DIVIDED + k];\n"
                             "        i += gridDim.x * blockDim.x;\n"
                             "    }\n";
    const auto with = [&](const std::string& divided) {
        std::string text = body;
        return kernel("size_t", text.replace(text.find("DIVIDED"), 7, divided));
    };
    checkApplicable(id, with("i % w"), with("(unsigned long)((unsigned)i % (unsigned)w)"));
}

TEST(IndexNarrowing, KeepsTheWidthOfWhatIsComputedFurther) {
    const std::string text = appliedText(
        id, kernel("size_t", position + "    if (i >= n) return;\n"
                                        "    auto r = i / w;\n"
                                        "    y[i % w * 1000] = x[-(i % h)] + r / n;\n"));
    EXPECT_TRUE(text.contains("auto r = (unsigned long)((unsigned)i / (unsigned)w);")) << text;
    EXPECT_TRUE(text.contains("y[(unsigned long)((unsigned)i % (unsigned)w) * 1000]")) << text;
    EXPECT_TRUE(text.contains("x[-(unsigned long)((unsigned)i % (unsigned)h)]")) << text;
}

TEST(IndexNarrowing, TakesTheBlocksOfTheLaunch) {
    const std::string launch = "void run(const float* x, float* y, int w, int h) {\n"
                               "    k<<<4096, 256>>>(x, y, 1048576, w, h);\n}\n";
    const std::string text = appliedText(
        id, kernel("unsigned long long",
                   "    const unsigned long long i = blockIdx.x * 256ULL + threadIdx.x;\n"
                   "    y[i] = x[i / w] * x[i % h] * x[i % n];\n",
                   launch));
    EXPECT_TRUE(text.contains("    y[i] = x[(unsigned)i / (unsigned)w] * "
                              "x[(unsigned)i % (unsigned)h] * x[(unsigned)i % (unsigned)n];\n"))
        << text;
}

TEST(IndexNarrowing, IsAboutTheLoop) {
    checkTarget(id,
                kernel("size_t", position + "    if (i >= n) return;\n"
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
        GateCase{"UnknownArgument", "unknown-extent",
                 kernel("size_t", position + twice,
                        "void run(const float* x, float* y, size_t n, size_t w) {\n"
                        "    k<<<(n + 255) / 256, 256>>>(x, y, n, w, 3);\n}\n")},
        GateCase{"NoLaunch", "unknown-extent", kernel("size_t", position + twice, "")},
        GateCase{"NoGuard", "unknown-extent",
                 kernel("size_t", position + "    y[i / w] = x[i % h];\n")},
        GateCase{"TooLarge", "unknown-extent",
                 kernel("size_t", position + twice,
                        "void run(const float* x, float* y) {\n"
                        "    k<<<1 << 25, 256>>>(x, y, 8589934592ull, 77, 3);\n}\n")},
        GateCase{"ProductOfExtents", "unknown-extent",
                 kernel("size_t", position + "    if (i < n) y[i * w / h] = x[i * h % w];\n")},
        GateCase{"GrowsInALoop", "unknown-extent",
                 kernel("size_t", position + "    if (i >= n) return;\n"
                                             "    for (int k = 0; k < 9; ++k) {\n"
                                             "        y[i / w] += x[i % h];\n"
                                             "        i += w;\n    }\n")},
        GateCase{"MovesBeforeTheDivision", "unknown-extent",
                 kernel("size_t", position + "    while (i < n) {\n"
                                             "        i += gridDim.x * blockDim.x;\n"
                                             "        y[i / w] = x[i % h];\n    }\n")},
        GateCase{"MovesInAnInnerLoop", "unknown-extent",
                 kernel("size_t", position + "    if (i >= n) return;\n"
                                             "    for (int k = 0; k < 9; ++k) {\n"
                                             "        y[i / w] += x[i % h];\n        ++i;\n"
                                             "    }\n")},
        GateCase{"FromMacro", "from-macro",
                 "#define ROW(i) ((i) / w)\n" +
                     kernel("size_t", position + "    if (i < n) y[ROW(i)] += 1;\n")},
        GateCase{"TwoDivisions", "few-divisions", kernel("size_t", position + twice)},
        GateCase{"SignedOutsideOfLoops", "few-divisions",
                 kernel("int64_t", "    int64_t i = threadIdx.x, k = i - 5;\n"
                                   "    y[i] = x[k / n] + x[k / w] + x[k / h];\n")}),
    [](const testing::TestParamInfo<GateCase>& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
