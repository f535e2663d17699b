#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "unroll-and-jam";

/// A kernel of `body`, launched with memory of four allocations. `t` is its thread in the grid.
std::string kernel(const std::string& body) {
    return "__global__ void k(const float* a, const float* b, float* c, int* d, int m, int n) {\n"
           "    int t = blockIdx.x * blockDim.x + threadIdx.x;\n" +
           body +
           "}\nvoid run(int m, int n) {\n    float *a, *b, *c;\n    int* d;\n"
           "    cudaMalloc(&a, n);\n    cudaMalloc(&b, n);\n    cudaMalloc(&c, n);\n"
           "    cudaMalloc(&d, n);\n    k<<<n / 128, 128>>>(a, b, c, d, m, n);\n}\n";
}

/// Products of the thread's column with each row of b. `round` stands in the outer loop, behind
/// the inner one.
std::string products(const std::string& round, const std::string& ahead = "") {
    return kernel("    int best = 0;\n    for (int i = 0; i < m; ++i) {\n" + ahead +
                  "        float sum = 0.0f;\n"
                  "        for (int j = 0; j < n; ++j) {\n"
                  "            sum += a[j * 1024 + t] * b[i * n + j];\n"
                  "        }\n" +
                  round + "    }\n    d[t] = best;\n");
}

/// A loop over rows whose nearest one is kept, in the style of C, from row `start` on.
std::string nearestRow(const std::string& start) {
    return "    for (i=" + start + R"(; i<m; i++) {
        int row = i*n;      /* begins here */
        float sum = 0.0f;
        for (j=0; j<n; j++)
        {
            int at = t + j*1024;
            float difference = a[at] - b[row + j]; // squared below
            sum += difference * difference;
        }
        distance = sum;
        if (distance < smallest) {
            smallest = distance;
            best = i;
        }
    }
    d[t] = best;
)";
}

TEST(UnrollAndJam, KeepsTheUsersStatements) {
    const std::string variables = "    int i, j, best = -1;\n"
                                  "    float smallest = 1e30f, distance;\n    /* all rows */\n";
    checkApplicable(id, kernel(variables + nearestRow("0")),
                    kernel(variables + R"(    int first = 0;
    for (; first + 3 < m; first += 4) {
        float sum[4];
        #pragma unroll
        for (int part = 0; part < 4; ++part) {
            const int i = first + part;
            int row = i*n;      /* begins here */
            sum[part] = 0.0f;
        }
        for (j=0; j<n; j++)
        {
            int at = t + j*1024;
            const auto loaded = a[at];
            #pragma unroll
            for (int part = 0; part < 4; ++part) {
                const int i = first + part;
                int row = i*n;
                float difference = loaded - b[row + j]; // squared below
                sum[part] += difference * difference;
            }
        }
        #pragma unroll
        for (int part = 0; part < 4; ++part) {
            const int i = first + part;
            distance = sum[part];
            if (distance < smallest) {
                smallest = distance;
                best = i;
            }
        }
    }
)" + nearestRow("first")));
}

TEST(UnrollAndJam, LeavesNoRestOfWholeGroups) {
    checkApplicable(id, kernel(R"(    for (int i = 0; i < 8; ++i) {
        float sum = 0.0f;
        for (int j = 0; j < n; ++j)
            sum += a[j * 1024 + t] * b[i * n + j];
        c[i * 1024 + t] = sum;
    }
)"),
                    kernel(R"(    for (int first = 0; first < 8; first += 4) {
        float sum[4];
        #pragma unroll
        for (int part = 0; part < 4; ++part) {
            sum[part] = 0.0f;
        }
        for (int j = 0; j < n; ++j) {
            const auto loaded = a[j * 1024 + t];
            #pragma unroll
            for (int part = 0; part < 4; ++part) {
                const int i = first + part;
                sum[part] += loaded * b[i * n + j];
            }
        }
        #pragma unroll
        for (int part = 0; part < 4; ++part) {
            const int i = first + part;
            c[i * 1024 + t] = sum[part];
        }
    }
)"));
}

TEST(UnrollAndJam, GivesVariablesFromOutsideThatEachRoundSetsAnArray) {
    const std::string text = appliedText(id, kernel(R"(    float sum;
    for (int i = (1 + m); i < n; ++i) {
        sum = 0.0f;
        for (int j = 0; j < n; ++j)
            sum += a[j * 1024 + t] * b[i * n + j];
        c[i * 1024 + t] = sum;
    }
    sum = 1.0f;
    d[t] = sum;
)"));
    EXPECT_TRUE(text.contains("    for (; first + 3 < n; first += 4) {\n        float sum[4];\n"))
        << text;
    EXPECT_TRUE(text.contains("            sum[part] += loaded * b[i * n + j];")) << text;
    EXPECT_TRUE(text.contains("    int first = 1 + m;\n")) << text;
    EXPECT_TRUE(text.contains("for (int i = first; i < n; ++i) {\n        sum = 0.0f;")) << text;
    EXPECT_TRUE(text.contains("    sum = 1.0f;\n    d[t] = sum;\n")) << text;
}

TEST(UnrollAndJam, NamesOnlyLoadsThatAreAlwaysMade) {
    const std::string text = appliedText(id, kernel(R"(    for (int i = 0; i < m; ++i) {
        float sum = 0.0f;
        for (int j = 0; j < n; ++j) {
            const float own = b[i * n + j];
            sum += own > 0.0f ? own * a[j * 1024 + t] : own * a[j * 2048 + t];
            sum += a[j] * a[j];
        }
        c[i * 1024 + t] = sum;
    }
)"));
    EXPECT_TRUE(text.contains("const auto loaded = a[j];")) << text;
    EXPECT_TRUE(text.contains("sum[part] += loaded * loaded;")) << text;
    EXPECT_TRUE(text.contains("own * a[j * 1024 + t] : own * a[j * 2048 + t]")) << text;
}

TEST(UnrollAndJam, KeepsTheBracketsOfTheLimit) {
    const std::string text = appliedText(id, kernel(R"(    for (int i = 0; i < (m & 12); ++i) {
        float sum = 0.0f;
        for (int j = 0; j < n; ++j)
            sum += a[j * 1024 + t] * b[i * n + j];
        c[i * 1024 + t] = sum;
    }
)"));
    EXPECT_TRUE(text.contains("for (; first + 3 < (m & 12); first += 4) {")) << text;
}

TEST(UnrollAndJam, StoresToSharedMemoryInTurn) {
    const std::string text = appliedText(id, kernel(R"(    __shared__ float sums[128];
    for (int i = 0; i < m; ++i) {
        float sum = 0.0f;
        for (int j = 0; j < n; ++j)
            sum += a[j * 1024 + t] * b[i * n + j];
        sums[threadIdx.x] = sum;
    }
    c[t] = sums[threadIdx.x];
)"));
    EXPECT_TRUE(text.contains("    __shared__ float sums[128];\n")) << text;
    EXPECT_TRUE(text.contains("            sums[threadIdx.x] = sum[part];\n")) << text;
    EXPECT_TRUE(text.contains("    c[t] = sums[threadIdx.x];\n")) << text;
}

TEST(UnrollAndJam, FetchesFromTexturesOnce) {
    const std::string text =
        appliedText(id, kernel(R"(    int best = 0;
    for (int i = 0; i < m; ++i) {
        float sum = 0.0f;
        for (int j = 0; j < n; ++j)
            sum += tex1Dfetch<float>(image, j) * b[i * n + j];
        best += sum > 1.0f;
    }
    d[t] = best;
)")
                            .insert(0, "__device__ cudaTextureObject_t image;\n"));
    EXPECT_TRUE(text.contains("const auto loaded = tex1Dfetch<float>(image, j);")) << text;
    EXPECT_TRUE(text.contains("sum[part] += loaded * b[i * n + j];")) << text;
}

TEST(UnrollAndJam, OffersOtherNumbersOfRounds) {
    const auto counts = [](const std::string& rounds) {
        const Subject subject =
            parseSubject(kernel("    for (int i = 0; i < " + rounds +
                                "; ++i) {\n        float sum = 0.0f;\n"
                                "        for (int j = 0; j < n; ++j)\n"
                                "            sum += a[j * 1024 + t] * b[i * n + j];\n"
                                "        c[i * 1024 + t] = sum;\n    }\n"));
        const Skill& skill = skillNamed(id);
        const auto first = skill.prepare(subject.context());
        std::vector<int> all;
        if (first)
            all.push_back(first->option);
        for (const Offer& offer : skill.alternatives(subject.context()))
            all.push_back(offer.option);
        return all;
    };
    EXPECT_EQ(counts("m"), (std::vector{4, 2, 8}));
    EXPECT_EQ(counts("7"), (std::vector{4, 2}));
    EXPECT_EQ(counts("3"), std::vector{2});
    EXPECT_EQ(counts("1"), std::vector<int>{});
}

TEST(UnrollAndJam, IsAboutTheLoopAtTheCursor) {
    checkTarget(id,
                kernel("    for (int i = 0; i < m; ++i) {\n        float sum = 0.0f;\n"
                       "        for (int j = 0; j < n; ++j)\n            sum += a[j] * b[i];\n"
                       "        c[i * 1024 + t] = sum;\n    }\n"
                       "    $0for (int q = 0; q < m; ++q) {\n        float sum = 0.0f;\n"
                       "        for (int j = 0; j < n; ++j)\n            sum += a[j] * b[q];\n"
                       "        d[q * 1024 + t] = sum;\n    }\n"),
                "for (int q = 0; q < m; ++q) {\n        float sum = 0.0f;\n"
                "        for (int j = 0; j < n; ++j)\n            sum += a[j] * b[q];\n"
                "        d[q * 1024 + t] = sum;\n    }");
}

class UnrollAndJamGates : public testing::TestWithParam<GateCase> {};

TEST_P(UnrollAndJamGates, Refuse) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    All, UnrollAndJamGates,
    testing::Values(
        GateCase{"OneLoop", "no-inner-loop",
                 kernel("    for (int i = 0; i < m; ++i)\n        c[i * 1024 + t] = a[i];\n")},
        GateCase{"Steps", "not-counted-up",
                 kernel("    for (int i = 0; i < m; i += 2) {\n        float sum = 0.0f;\n"
                        "        for (int j = 0; j < n; ++j)\n            sum += a[j] * b[i];\n"
                        "        c[i * 1024 + t] = sum;\n    }\n")},
        GateCase{"Rest", "is-rest",
                 kernel("    int q = 0;\n    for (; q + 3 < m; q += 4)\n"
                        "        c[q * 1024 + t] = 0.0f;\n"
                        "    for (int i = q; i < m; ++i) {\n        float sum = 0.0f;\n"
                        "        for (int j = 0; j < n; ++j)\n            sum += a[j] * b[i];\n"
                        "        c[i * 1024 + t] = sum;\n    }\n")},
        GateCase{"Triangle", "rounds-apart",
                 kernel("    for (int i = 0; i < m; ++i) {\n        float sum = 0.0f;\n"
                        "        for (int j = 0; j < i; ++j)\n            sum += a[j] * b[i];\n"
                        "        c[i * 1024 + t] = sum;\n    }\n")},
        GateCase{"LengthOfTheRoundBefore", "rounds-apart",
                 kernel("    int length = 1;\n    for (int i = 0; i < m; ++i) {\n"
                        "        float sum = 0.0f;\n        for (int j = 0; j < length; ++j)\n"
                        "            sum += a[j] * b[i];\n        length = d[i];\n"
                        "        c[i * 1024 + t] = sum;\n    }\n")},
        GateCase{"SumOfAllRounds", "carries-over",
                 kernel("    float sum = 0.0f;\n    for (int i = 0; i < m; ++i) {\n"
                        "        for (int j = 0; j < n; ++j)\n            sum += a[j] * b[i];\n"
                        "    }\n    c[t] = sum;\n")},
        GateCase{"ReadsTheRoundBefore", "carries-over",
                 kernel("    float last = 0.0f;\n    for (int i = 0; i < m; ++i) {\n"
                        "        float sum = last;\n"
                        "        for (int j = 0; j < n; ++j)\n            sum += a[j] * b[i];\n"
                        "        last = sum;\n    }\n    c[t] = last;\n")},
        GateCase{"ReadBehindTheLoop", "carries-over",
                 kernel("    float sum = 0.0f;\n    for (int i = 0; i < m; ++i) {\n"
                        "        sum = 0.0f;\n"
                        "        for (int j = 0; j < n; ++j)\n            sum += a[j] * b[i];\n"
                        "        c[i * 1024 + t] = sum;\n    }\n    c[t] = sum;\n")},
        GateCase{"CountsRounds", "carries-over",
                 kernel("    int count = 0;\n    for (int i = 0; i < m; ++i) {\n"
                        "        float sum = count;\n"
                        "        for (int j = 0; j < n; ++j)\n            sum += a[j] * b[i];\n"
                        "        count++;\n        c[i * 1024 + t] = sum;\n    }\n")},
        GateCase{"InnerIndexReadBefore", "rounds-apart",
                 kernel("    int j = 0;\n    for (int i = 0; i < m; ++i) {\n"
                        "        float sum = a[j];\n"
                        "        for (j = 0; j < n; ++j)\n            sum += a[j] * b[i];\n"
                        "        c[i * 1024 + t] = sum;\n    }\n")},
        GateCase{"StoresInTheInnerLoop", "stores-between",
                 kernel("    for (int i = 0; i < m; ++i) {\n        float sum = 0.0f;\n"
                        "        for (int j = 0; j < n; ++j) {\n            sum += a[j] * b[i];\n"
                        "            c[j * 1024 + t] = sum;\n        }\n    }\n")},
        GateCase{"LoadsWhatItStored", "stores-between",
                 kernel("    for (int i = 1; i < m; ++i) {\n        float sum = c[(i - 1) * 1024 + "
                        "t];\n"
                        "        for (int j = 0; j < n; ++j)\n            sum += a[j] * b[i];\n"
                        "        c[i * 1024 + t] = sum;\n    }\n")},
        GateCase{"MayAlias", "may-alias",
                 products("        c[i * 1024 + t] = sum;\n") +
                     "void again(float* x, int* y) { k<<<1, 128>>>(x, x, x, y, 1, 1); }\n"},
        GateCase{"Break", "leaves-loop", products("        if (sum > 1.0f)\n            break;\n")},
        GateCase{"Continue", "leaves-loop",
                 products("        best++;\n", "        if (d[i] > 1)\n            continue;\n")},
        GateCase{"Return", "leaves-loop",
                 products("        if (sum > 1.0f)\n            return;\n")},
        GateCase{"LeavesTheSharedLoop", "leaves-loop",
                 kernel("    int best = 0;\n    for (int i = 0; i < m; ++i) {\n"
                        "        float sum = 0.0f;\n        for (int j = 0; j < n; ++j) {\n"
                        "            sum += a[j] * b[i];\n            if (sum > 1.0f)\n"
                        "                break;\n        }\n        best += sum > 1.0f;\n"
                        "    }\n    d[t] = best;\n")},
        GateCase{"Barrier", "barrier", products("        __syncthreads();\n")},
        GateCase{"Atomic", "atomic", products("        atomicAdd(d, 1);\n")},
        GateCase{"Shuffle", "warp-operation",
                 products("        best += __shfl_xor_sync(0xffffffff, i, 1);\n")},
        GateCase{"Call", "unknown-call",
                 "__device__ void note(int* x);\n" + products("        note(d);\n")},
        GateCase{"Address", "address-taken",
                 products("        float* p = &sum;\n        *p += 1.0f;\n        best += sum;\n")},
        GateCase{"Reference", "address-taken",
                 products("        float& s = sum;\n        s += 1.0f;\n        best += sum;\n")},
        GateCase{"NothingShared", "nothing-shared",
                 kernel("    int best = 0;\n    for (int i = 0; i < m; ++i) {\n"
                        "        float sum = 0.0f;\n        for (int j = 0; j < n; ++j)\n"
                        "            sum += b[i * n + j];\n        best += sum > 1.0f;\n"
                        "    }\n    d[t] = best;\n")},
        GateCase{"OneLine", "several-statements-a-line",
                 kernel("    int best = 0;\n    for (int i = 0; i < m; ++i) {\n"
                        "        float sum = 0.0f;\n        for (int j = 0; j < n; ++j) { sum += "
                        "a[j] * b[i]; }\n        best += sum > 1.0f;\n    }\n    d[t] = best;\n")}),
    [](const auto& tested) { return tested.param.name; });

} // namespace
} // namespace kernelskill::skills
