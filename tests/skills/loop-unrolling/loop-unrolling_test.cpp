#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "loop-unrolling";

std::string kernelWith(const std::string& body, const std::string& before = "") {
    return before + "__global__ void k(const float* x, float* y, int* idx, int n, unsigned m) {\n" +
           body + "}\n";
}

TEST(LoopUnrolling, UnrollsAShortLoopCompletely) {
    checkApplicable(
        id, kernelWith("    for (int i = 0; i < 8; ++i)\n        y[i] = x[i];\n"),
        kernelWith("    #pragma unroll\n    for (int i = 0; i < 8; ++i)\n        y[i] = x[i];\n"));
}

TEST(LoopUnrolling, UnrollsLoadsOfAnUnknownNumberOfRoundsByFour) {
    checkApplicable(
        id,
        kernelWith("    for (int i = threadIdx.x; i < n; i += blockDim.x)\n        y[i] = x[i];\n"),
        kernelWith("    #pragma unroll 4\n    for (int i = threadIdx.x; i < n; i += blockDim.x)\n  "
                   "      y[i] = x[i];\n"));
}

TEST(LoopUnrolling, KeepsTheNameOfAStep) {
    checkApplicable(id,
                    kernelWith(R"(    float sum = 0;
    for (int i = threadIdx.x; i < n; i += WIDTH)
        sum += x[i];
    y[threadIdx.x] = sum;
)",
                               "#define WIDTH 32\n"),
                    kernelWith(R"(    float sum = 0;
    float sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
    int i = threadIdx.x;
    for (; i < n - 3 * WIDTH; i += 4 * WIDTH) {
        sum += x[i];
        sum1 += x[i + WIDTH];
        sum2 += x[i + 2 * WIDTH];
        sum3 += x[i + 3 * WIDTH];
    }
    for (; i < n; i += WIDTH)
        sum += x[i];
    sum = (sum + sum1) + (sum2 + sum3);
    y[threadIdx.x] = sum;
)",
                               "#define WIDTH 32\n"));
}

TEST(LoopUnrolling, GivesAStridedSumSeparateAccumulatorsThatCannotOverflow) {
    checkApplicable(id, kernelWith(R"(    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += x[i] * x[i];
    y[threadIdx.x] = sum;
)"),
                    kernelWith(R"(    float sum = 0;
    float sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
    int i = threadIdx.x;
    for (; i < n && n - i > 3 * blockDim.x; i += 4 * blockDim.x) {
        sum += x[i] * x[i];
        sum1 += x[i + blockDim.x] * x[i + blockDim.x];
        sum2 += x[i + 2 * blockDim.x] * x[i + 2 * blockDim.x];
        sum3 += x[i + 3 * blockDim.x] * x[i + 3 * blockDim.x];
    }
    for (; i < n; i += blockDim.x)
        sum += x[i] * x[i];
    sum = (sum + sum1) + (sum2 + sum3);
    y[threadIdx.x] = sum;
)"));
}

TEST(LoopUnrolling, KeepsLocalsOfEachRoundApart) {
    checkApplicable(id, kernelWith(R"(    double best = -1e300;
    for (unsigned j = 0; j < m; j++) {
        const double v = x[j]; // widened
        best = fmax(best, v);
    }
    y[0] = best;
)"),
                    kernelWith(R"(    double best = -1e300;
    double best1 = best, best2 = best, best3 = best;
    unsigned int j = 0;
    for (; j < m && m - j > 3; j += 4) {
        {
            const double v = x[j];
            best = fmax(best, v);
        }
        {
            const double v = x[j + 1];
            best1 = fmax(best1, v);
        }
        {
            const double v = x[j + 2];
            best2 = fmax(best2, v);
        }
        {
            const double v = x[j + 3];
            best3 = fmax(best3, v);
        }
    }
    for (; j < m; j++) {
        const double v = x[j]; // widened
        best = fmax(best, v);
    }
    best = fmax(fmax(best, best1), fmax(best2, best3));
    y[0] = best;
)"));
}

TEST(LoopUnrolling, FindsAnotherNameForAnIndexThatIsTaken) {
    const std::string text = appliedText(id, kernelWith(R"(    int i = threadIdx.x;
    float sum = 0;
    for (int i = 0; $0i < n; ++i)
        sum += x[i];
    y[i] = sum;
)"));
    EXPECT_TRUE(text.contains("int iNext = 0;")) << text;
    EXPECT_TRUE(text.contains("for (int i = iNext; i < n; ++i)")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(LoopUnrolling, IsAboutTheInnermostLoopAtTheCursor) {
    const std::string source = kernelWith(R"(    for (int i = 0; i < 4; ++i) {
        y[i] = 0;
        for (int j = 0; j < 3; ++j)
            y[$0i] += x[i * 3 + j];
    }
)");
    checkTarget(id, source, "for (int j = 0; j < 3; ++j)\n            y[i] += x[i * 3 + j];");
}

TEST(LoopUnrolling, SaysWhatEachFormDoesToResults) {
    EXPECT_EQ(offeredNumerics(id, kernelWith("    for (int i = 0; i < 8; ++i) y[i] = x[i];\n")),
              Numerics::Exact);
    EXPECT_EQ(
        offeredNumerics(id, kernelWith("    float s = 0;\n    for (int i = 0; i < n; ++i)\n        "
                                       "s += x[i];\n    y[0] = s;\n")),
        Numerics::Reassociates);
    EXPECT_EQ(
        offeredNumerics(id, kernelWith("    float s = 0;\n    for (int i = 0; i < n; ++i)\n        "
                                       "s = fmaxf(s, x[i]);\n    y[0] = s;\n")),
        Numerics::Exact);
}

struct Case {
    std::string name;
    std::string body;
    std::string gate;
};

/// Loops that get `#pragma unroll 4` but no separate accumulators.
class LoopUnrollingKeepsOneAccumulator : public testing::TestWithParam<Case> {};

TEST_P(LoopUnrollingKeepsOneAccumulator, WhereSeparateOnesWouldChangeTheResult) {
    const std::string text = appliedText(id, kernelWith(GetParam().body));
    EXPECT_TRUE(text.contains("#pragma unroll 4")) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Loops, LoopUnrollingKeepsOneAccumulator,
    testing::Values(
        Case{"StoresRunningSum",
             "    float s = 0;\n    for (int i = 0; i < n; ++i) { s += x[i]; y[i] = s; }\n", ""},
        Case{"Recurrence",
             "    float s = 0;\n    for (int i = 0; i < n; ++i)\n        s = s * x[i] + 1;\n    "
             "y[0] = s;\n",
             ""},
        Case{"MixedFolds",
             "    float s = 0;\n    for (int i = 0; i < n; ++i) { s += x[i]; s *= x[i]; }\n    "
             "y[0] = s;\n",
             ""},
        Case{"ReadsItself",
             "    float s = 0;\n    for (int i = 0; i < n; ++i)\n        s += x[i] - s;\n    y[0] "
             "= s;\n",
             ""},
        Case{"IntegerSum",
             "    int s = 0;\n    for (int i = 0; i < n; ++i)\n        s += idx[i];\n    y[0] = "
             "s;\n",
             ""},
        Case{"CarriesAnotherVariable",
             "    float s = 0;\n    int p = 0;\n    for (int i = 0; i < n; ++i) { s += x[i + p]; p "
             "= idx[i]; }\n    y[0] = s;\n",
             ""},
        Case{"AtomicInside",
             "    float s = 0;\n    for (int i = 0; i < n; ++i) { s += x[i]; atomicAdd(&y[i], "
             "1.0f); }\n    y[0] = s;\n",
             ""},
        Case{"LessOrEqual",
             "    float s = 0;\n    for (int i = 0; i <= n; ++i)\n        s += x[i];\n    y[0] = "
             "s;\n",
             ""},
        Case{"CountsDown",
             "    float s = 0;\n    for (int i = n - 1; i >= 0; --i)\n        s += x[i];\n    y[0] "
             "= s;\n",
             ""},
        Case{"LimitChanges",
             "    float s = 0;\n    for (int i = 0; i < n; ++i) { s += x[i]; n -= idx[i]; }\n    "
             "y[0] = s;\n",
             ""}),
    [](const auto& info) { return info.param.name; });

class LoopUnrollingIsNotOffered : public testing::TestWithParam<Case> {};

TEST_P(LoopUnrollingIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(
        id, kernelWith(GetParam().body, "#define REPEAT(n) for (int r = 0; r < (n); ++r)\n"),
        GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, LoopUnrollingIsNotOffered,
    testing::Values(
        Case{"NoLoop", "    y[0] = x[0];\n", "no-loop"},
        Case{"Pragma", "    #pragma unroll 2\n    for (int i = 0; i < n; ++i) y[i] = x[i];\n",
             "already-unrolled"},
        Case{"PragmaUnrollOne",
             "    #pragma unroll 1\n    for (int i = 0; i < 8; ++i) y[i] = x[i];\n",
             "already-unrolled"},
        Case{"ByHand", "    for (int i = 0; i < n; i += 2) { y[i] = x[i]; y[i + 1] = x[i + 1]; }\n",
             "already-unrolled"},
        Case{"While", "    int i = 0;\n    while (idx[i] < n) { y[i] = x[i]; i = idx[i]; }\n",
             "not-counted"},
        Case{"Tree", "    for (int s = blockDim.x / 2; s > 0; s >>= 1) y[s] = x[s];\n",
             "not-counted"},
        Case{"OneRound", "    for (int i = 0; i < 1; ++i) y[i] = x[i];\n", "trivial-loop"},
        Case{"Barrier", "    for (int i = 0; i < n; ++i) { y[i] = x[i]; __syncthreads(); }\n",
             "barrier-in-loop"},
        Case{"DivergentBarrier",
             "    for (int i = threadIdx.x; i < n; ++i) { y[i] = x[i]; __syncthreads(); }\n",
             "barrier-in-loop"},
        Case{"Break", "    for (int i = 0; i < n; ++i) { if (x[i] < 0) break; y[i] = x[i]; }\n",
             "early-exit"},
        Case{"Return", "    for (int i = 0; i < n; ++i) { if (x[i] < 0) return; y[i] = x[i]; }\n",
             "early-exit"},
        Case{"NoLoads", "    for (int i = 0; i < n; ++i) y[i] = 1.0f;\n", "no-independent-loads"},
        Case{"Outer",
             "    for (int i = 0; $0i < n; ++i)\n        for (int j = 0; j < n; ++j) y[i] += "
             "x[j];\n",
             "not-innermost"},
        Case{"FromMacro", "    REPEAT(4) y[r] = x[r];\n", "from-macro"}),
    [](const auto& info) { return info.param.name; });

TEST(LoopUnrolling, IsNotOfferedAgainOnTheLoopsItLeaves) {
    const std::string text = appliedText(id, readSource("skills/loop-unrolling/before.cu"));
    for (const std::string_view loop : {"for (; k < columns - 3", "for (; k < columns; ++k)"}) {
        std::string marked = text;
        marked.insert(marked.find(loop), "$0");
        checkNotApplicable(id, marked, "already-unrolled");
    }
}

TEST(LoopUnrolling, ToUnrollAShortLoopCompletelyIsGoodPracticeAlone) {
    const auto roleFor = [](const std::string& body) {
        const Subject subject = parseSubject(kernelWith(body));
        return skillNamed(id).prepare(subject.context())->role;
    };
    EXPECT_EQ(roleFor("    for (int i = 0; i < 8; ++i)\n        y[i] = x[i];\n"),
              SkillRole::Hygiene);
    EXPECT_EQ(roleFor("    for (int i = threadIdx.x; i < n; i += 32)\n        y[i] = x[i];\n"),
              std::nullopt);
}

} // namespace
} // namespace kernelskill::skills
