/// Running means and variances, by Welford's method, that lanes combine.
#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "row-per-warp";

/// A kernel on rows with `body` behind its index.
std::string kernel(const std::string& body, const std::string& type = "float",
                   const std::string& index = "    int i = blockIdx.x * blockDim.x + "
                                              "threadIdx.x;\n",
                   const std::string& grid = "(m + 127) / 128") {
    return "__global__ void k(const " + type + "* a, " + type + "* c, int m, int n) {\n" + index +
           "    if (i >= m) return;\n" + body + "}\nvoid run(int m, int n) {\n    " + type +
           " *a, *c;\n    cudaMalloc(&a, n);\n    cudaMalloc(&c, n);\n    k<<<" + grid +
           ", 128>>>(a, c, m, n);\n}\n";
}

std::string warpKernel(const std::string& body, const std::string& type = "float") {
    return kernel(body, type,
                  "    int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;\n"
                  "    const int lane = threadIdx.x % 32;\n",
                  "(m + 127) / 128 * 32");
}

/// What combines lanes whose count is `count`, with the name `other` for that of another lane.
std::string combined(const std::string& count, const std::string& other,
                     const std::string& type = "float", const std::string& countType = "int") {
    return "    for (int offset = 16; offset > 0; offset /= 2) {\n        const " + countType +
           " " + other + " = __shfl_xor_sync(0xffffffff, " + count + ", offset);\n        const " +
           type + " otherMean = __shfl_xor_sync(0xffffffff, mean, offset);\n        const " + type +
           " otherM2 = __shfl_xor_sync(0xffffffff, m2, offset);\n        if (" + other +
           " > 0) {\n            const " + type + " gap = otherMean - mean;\n            const " +
           type + " shift = gap * " + other + " / (" + count + " + " + other +
           ");\n            mean += shift;\n            m2 += otherM2 + shift * " + count +
           " * gap;\n            " + count + " += " + other +
           ";\n        }\n    }\n    mean = __shfl_sync(0xffffffff, mean, 0);\n"
           "    m2 = __shfl_sync(0xffffffff, m2, 0);\n";
}

TEST(RunningVariance, CountsTheRoundsOfEachLane) {
    const auto body = [](const std::string& count, const std::string& head,
                         const std::string& lines, const std::string& behind,
                         const std::string& first) {
        return "    float mean = 0.0f, m2 = 0.0f;\n" + count + "    for (" + head +
               ") {\n        float x = a[i * n + j];\n        float delta = x - mean;\n" + lines +
               "        m2 += delta * (x - mean);\n    }\n" + behind + "    for (" + head +
               ")\n        c[i * n + j] = (a[i * n + j] - mean) * rsqrtf(m2 / n + " + first +
               ");\n";
    };
    checkApplicable(id,
                    kernel(body("", "int j = 0; j < n; ++j", "        mean += delta / (j + 1);\n",
                                "", "1e-5f")),
                    warpKernel(body("    int seen = 0;\n", "int j = lane; j < n; j += 32",
                                    "        ++seen;\n        mean += delta / seen;\n",
                                    combined("seen", "otherSeen"), "1e-5f")));
}

TEST(RunningVariance, KeepsTheTextsOwnCount) {
    const auto body = [](const std::string& head, const std::string& behind,
                         const std::string& stores) {
        return "    double mean = 0;\n    double m2 = 0;\n    int count = 0;\n    for (" + head +
               ") {\n        ++count;\n        const double x = a[i * n + j];\n"
               "        const double delta = x - mean;\n        mean += delta / count;\n"
               "        const double delta2 = x - mean;\n        m2 += delta * delta2;\n    }\n" +
               behind + stores;
    };
    checkApplicable(
        id, kernel(body("int j = 0; j < n; ++j", "", "    c[i] = m2 / count;\n"), "double"),
        warpKernel(body("int j = lane; j < n; j += 32", combined("count", "otherCount", "double"),
                        "    if (lane == 0)\n        c[i] = m2 / count;\n"),
                   "double"));
}

/// A row's variance, with `declared` before the loop and `lines` in it.
std::string variance(const std::string& lines,
                     const std::string& declared = "    float mean = 0, m2 = 0;\n",
                     const std::string& head = "int j = 0; j < n; ++j",
                     const std::string& behind = "    c[i] = m2 / n;\n") {
    return kernel(declared + "    for (" + head + ") {\n        float x = a[i * n + j];\n" + lines +
                  "    }\n" + behind);
}

struct Form {
    std::string name;
    std::string source;
    std::string line; ///< In the edited text.
};

class RunningVarianceForms : public ::testing::TestWithParam<Form> {};

TEST_P(RunningVarianceForms, AreCombined) {
    const std::string text = appliedText(id, GetParam().source);
    EXPECT_TRUE(text.contains(GetParam().line)) << text;
    EXPECT_TRUE(text.contains("float shift = gap * other")) << text;
    EXPECT_EQ(offeredNumerics(id, GetParam().source), Numerics::Reassociates);
}

const std::string counted = "    float mean = 0, m2 = 0;\n    int count = 0;\n";
const std::string squares = "        m2 += delta * (x - mean);\n";
const std::string delta = "        float delta = x - mean;\n";

INSTANTIATE_TEST_SUITE_P(
    All, RunningVarianceForms,
    ::testing::Values(
        Form{"Cast", variance(delta + "        mean += delta / (float)(j + 1);\n" + squares),
             "        ++seen;\n        mean += delta / (float)(seen);\n"},
        Form{"StaticCast",
             variance(delta + "        mean += delta / static_cast<float>(j + 1);\n" + squares),
             "mean += delta / static_cast<float>(seen);\n"},
        Form{"FloatingOne", variance(delta + "        mean += delta / (j + 1.0f);\n" + squares),
             "mean += delta / seen;\n"},
        Form{"OneFirst", variance(delta + "        mean += delta / (1 + j);\n" + squares),
             "mean += delta / seen;\n"},
        Form{"FromOne",
             variance(delta + "        mean += delta / j;\n" + squares,
                      "    float mean = 0, m2 = 0;\n", "int j = 1; j <= n; ++j"),
             "mean += delta / seen;\n"},
        Form{"FromAnyStart",
             variance(delta + "        mean += delta / (j - m + 1);\n" + squares,
                      "    float mean = 0, m2 = 0;\n", "int j = m; j < n; ++j"),
             "for (int j = m + lane; j < n; j += 32) {"},
        Form{"LongRows",
             variance(delta + "        mean += delta / (j + 1);\n" + squares,
                      "    float mean = 0, m2 = 0;\n", "long long j = 0; j < n; ++j"),
             "    long long seen = 0;\n"},
        Form{"NumberOfItsOwn",
             variance("        const float number = j + 1;\n" + delta +
                      "        mean += delta / number;\n" + squares),
             "        ++seen;\n        const float number = seen;\n"},
        Form{"NumberThatIsKept",
             variance(delta + "        count = j + 1;\n        mean += delta / count;\n" + squares,
                      counted),
             "        ++count;\n        mean += delta / count;\n"},
        Form{"PostIncrement",
             variance("        count++;\n" + delta + "        mean += delta / (float)count;\n" +
                          squares,
                      counted),
             "mean += delta / (float)count;\n"},
        Form{
            "AddsOne",
            variance("        count += 1;\n" + delta + "        mean += delta / count;\n" + squares,
                     counted),
            "count += otherCount;\n"},
        Form{"FloatingCount",
             variance("        count = count + 1.0f;\n" + delta +
                          "        mean += delta / count;\n" + squares,
                      "    float mean = 0, m2 = 0, count = 0.0f;\n"),
             "const float otherCount = "},
        Form{"StepsOfTwo",
             variance("        ++count;\n" + delta + "        mean += delta / count;\n" + squares,
                      counted, "int j = 0; j < n; j += 2"),
             "for (int j = lane * 2; j < n; j += 2 * 32) {"},
        Form{"SomeOfTheValues",
             variance("        if (x > 0) {\n            ++count;\n            float delta = x - "
                      "mean;\n            mean += delta / count;\n            m2 += delta * (x - "
                      "mean);\n        }\n",
                      counted),
             "count += otherCount;\n"},
        Form{"Sums",
             variance(delta + "        mean = mean + delta / (j + 1);\n"
                              "        m2 = (x - mean) * delta + m2;\n"),
             "mean = mean + delta / seen;\n"},
        Form{"ValueOfMemory",
             variance("        float delta = a[i * n + j] - mean;\n        mean += delta / (j + "
                      "1);\n        m2 += delta * (a[i * n + j] - mean);\n"),
             "mean += delta / seen;\n"},
        Form{"DeclaredBefore",
             variance("        delta = x - mean;\n        mean += delta / (j + 1);\n" + squares,
                      "    float mean, m2, delta;\n    mean = 0.0f;\n    m2 = 0.0f;\n"),
             "mean += delta / seen;\n"},
        Form{
            "BesideASum",
            variance("        sum += x;\n" + delta + "        mean += delta / (j + 1);\n" + squares,
                     "    float mean = 0, m2 = 0, sum = 0;\n", "int j = 0; j < n; ++j",
                     "    c[i] = m2 / n + sum;\n"),
            "        sum += __shfl_xor_sync(0xffffffff, sum, offset);\n"},
        Form{"NameThatIsTaken",
             variance(delta + "        mean += delta / (j + 1);\n" + squares,
                      "    float mean = 0, m2 = 0;\n    int seen = i;\n", "int j = 0; j < n; ++j",
                      "    c[seen] = m2 / n;\n"),
             "    int seen2 = 0;\n"}),
    [](const auto& tested) { return tested.param.name; });

TEST(RunningVariance, CombinesSeveral) {
    const std::string one = "    {\n        float mean = 0, m2 = 0;\n"
                            "        for (int j = 0; j < n; ++j) {\n"
                            "            float delta = a[i * n + j] - mean;\n"
                            "            mean += delta / (j + 1);\n"
                            "            m2 += delta * (a[i * n + j] - mean);\n        }\n"
                            "        all += m2;\n    }\n";
    const std::string text =
        appliedText(id, kernel("    float all = 0;\n" + one + one + "    c[i] = all;\n"));
    EXPECT_TRUE(text.contains("        int seen = 0;\n")) << text;
    EXPECT_TRUE(text.contains("        int seen2 = 0;\n")) << text;
    EXPECT_TRUE(text.contains("            const int otherSeen2 = ")) << text;
}

TEST(RunningVariance, IsCombinedInPartsOfAWarp) {
    const std::string text =
        appliedText(id, variance(delta + "        mean += delta / (j + 1);\n" + squares,
                                 "    float mean = 0, m2 = 0;\n", "int j = 0; j < 9; ++j"));
    EXPECT_TRUE(text.contains("const float otherMean = __shfl_xor_sync(mask, mean, offset);\n"))
        << text;
    EXPECT_TRUE(text.contains("    mean = __shfl_sync(mask, mean, 0, 8);\n"
                              "    m2 = __shfl_sync(mask, m2, 0, 8);\n"))
        << text;
}

TEST(RunningVariance, IsCombinedAcrossABlock) {
    const std::string text = appliedText(
        "row-per-block", kernel("    float mean = 0, m2 = 0;\n    for (int j = 0; j < n; ++j) {\n"
                                "        float delta = a[i * n + j] - mean;\n"
                                "        mean += delta / (j + 1);\n"
                                "        m2 += delta * (a[i * n + j] - mean);\n    }\n"
                                "    c[i] = m2;\n",
                                "float", "    int i = blockIdx.x * 128 + threadIdx.x;\n", "2"));
    EXPECT_TRUE(text.contains("    seen = partialSeen[0];\n    mean = partialMean[0];\n"
                              "    m2 = partialM2[0];\n"))
        << text;
    EXPECT_TRUE(text.contains("        const float otherM2 = partialM2[warp];\n"
                              "        if (otherSeen > 0) {\n"))
        << text;
    EXPECT_FALSE(text.contains("__shfl_sync")) << text;
}

TEST(RunningVariance, IsCombinedBehindABoundsCheck) {
    const std::string text = appliedText("split-reduction", R"(
__global__ void k(const float* a, float* c, int m, int n) {
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i < m) {
        float mean = 0, m2 = 0;
        for (int j = 0; j < n; ++j) {
            float delta = a[j * m + i] - mean;
            mean += delta / (j + 1);
            m2 += delta * (a[j * m + i] - mean);
        }
        c[i] = m2 / n;
    }
}
void run(const float* a, float* c, int n) { k<<<4, 32>>>(a, c, 128, n); }
)");
    EXPECT_TRUE(text.contains("    float mean = 0, m2 = 0;\n    int seen = 0;\n    if (i < m) {\n"))
        << text;
    EXPECT_TRUE(text.contains("            const int otherSeen = partialSeen[other]")) << text;
}

struct Refused {
    std::string name;
    std::string source;
    std::string why; ///< Part of the refusal's reason.
};

class RunningVarianceGates : public ::testing::TestWithParam<Refused> {};

TEST_P(RunningVarianceGates, Refuses) {
    const Refusal refusal = refusedBy(id, GetParam().source);
    EXPECT_EQ(refusal.gate, "running-variance");
    EXPECT_TRUE(refusal.reason.contains(GetParam().why)) << refusal.reason;
}

INSTANTIATE_TEST_SUITE_P(
    All, RunningVarianceGates,
    ::testing::Values(
        Refused{"MeanIsUsed",
                variance(delta + "        mean += delta / (j + 1);\n" + squares +
                         "        c[i * n + j] = mean;\n"),
                "line 10 uses mean for something else"},
        Refused{"SquaresAreUsed",
                variance(delta + "        mean += delta / (j + 1);\n" + squares +
                         "        if (m2 > 9) m2 = 9;\n"),
                "line 10 uses m2"},
        Refused{"DeltaIsUsed",
                variance(delta + "        mean += delta / (j + 1);\n" + squares +
                         "        c[i * n + j] = delta;\n"),
                "line 10 uses delta"},
        Refused{"CountIsUsed",
                variance("        ++count;\n" + delta + "        mean += delta / count;\n" +
                             squares + "        c[i * n + j] = count;\n",
                         counted),
                "line 12 uses count"},
        Refused{"CountsTwice",
                variance("        ++count;\n" + delta + "        mean += delta / count;\n" +
                             squares + "        ++count;\n",
                         counted),
                "line 12 uses count"},
        Refused{"ValueOfTheMean",
                variance("        float delta = (x + m2) - mean;\n        mean += delta / (j + "
                         "1);\n        m2 += delta * ((x + m2) - mean);\n"),
                "uses m2 for something else"},
        Refused{"OtherDivisor", variance(delta + "        mean += delta / n;\n" + squares),
                "it is not divided by the number of values so far"},
        Refused{"NumberFromZero", variance(delta + "        mean += delta / j;\n" + squares),
                "it is not divided by"},
        Refused{"NumberOfAnotherStart",
                variance(delta + "        mean += delta / (j + 1);\n" + squares,
                         "    float mean = 0, m2 = 0;\n", "int j = m; j < n; ++j"),
                "it is not divided by"},
        Refused{"NumberInSteps",
                variance(delta + "        mean += delta / (j + 1);\n" + squares,
                         "    float mean = 0, m2 = 0;\n", "int j = 0; j < n; j += 2"),
                "it is not divided by"},
        Refused{"CountsBehind",
                variance(delta + "        mean += delta / count;\n        ++count;\n" + squares,
                         counted),
                "it is not divided by"},
        Refused{
            "CountsByTwo",
            variance("        count += 2;\n" + delta + "        mean += delta / count;\n" + squares,
                     counted),
            "it is not divided by"},
        Refused{"SquaresOfTheFirst",
                variance(delta + "        mean += delta / (j + 1);\n        m2 += delta * "
                                 "delta;\n"),
                "no line behind it adds delta times the distance from the new mean to a sum"},
        Refused{"SquaresBefore", variance(delta + squares + "        mean += delta / (j + 1);\n"),
                "no line behind it adds"},
        Refused{"AnotherValue",
                variance(delta + "        mean += delta / (j + 1);\n        m2 += delta * (2 * x "
                                 "- mean);\n"),
                "no line behind it adds"},
        Refused{"MeanFromTheFirst",
                variance(delta + "        mean += delta / (j + 1);\n" + squares,
                         "    float mean = a[i * n], m2 = 0;\n"),
                "mean is not set to 0 beside the loop on line 5"},
        Refused{"SquaresFromOne",
                variance(delta + "        mean += delta / (j + 1);\n" + squares,
                         "    float mean = 0, m2 = 1;\n"),
                "m2 is not set to 0"},
        Refused{
            "CountFromOne",
            variance("        ++count;\n" + delta + "        mean += delta / count;\n" + squares,
                     "    float mean = 0, m2 = 0;\n    int count = 1;\n"),
            "count is not set to 0"},
        Refused{"SetAgain",
                variance(delta + "        mean += delta / (j + 1);\n" + squares,
                         "    float mean = 0, m2 = 0;\n    mean = n;\n"),
                "mean is not set to 0"},
        Refused{"ValueMayChange",
                variance("        float delta = c[i * n + j] - mean;\n        mean += delta / (j + "
                         "1);\n        c[i * n + j] = 0;\n        m2 += delta * (c[i * n + j] - "
                         "mean);\n"),
                "line 9 stands between its lines"},
        Refused{"SomeRounds",
                variance("        if (x > 0) {\n            float delta = x - mean;\n            "
                         "mean += delta / (j + 1);\n            m2 += delta * (x - mean);\n        "
                         "}\n"),
                "not each round of the loop on line 5 may come to it"},
        Refused{"SkippedRounds",
                variance("        if (x < 0) continue;\n" + delta +
                         "        mean += delta / (j + 1);\n" + squares),
                "line 7 may skip it"},
        Refused{"SkippedValues",
                variance("        ++count;\n        if (x < 0) continue;\n" + delta +
                             "        mean += delta / count;\n" + squares,
                         counted),
                "line 9 may skip it"},
        Refused{"OneLine",
                variance(delta + "        mean += delta / (j + 1); m2 += delta * (x - mean);\n"),
                "line 8 has no place for a count"},
        Refused{
            "WholeNumbers",
            variance("        int delta = x - mean;\n        mean += delta / (j + 1);\n" + squares),
            "delta is no floating-point number of the thread's own"}),
    [](const auto& tested) { return tested.param.name; });

} // namespace
} // namespace kernelskill::skills
