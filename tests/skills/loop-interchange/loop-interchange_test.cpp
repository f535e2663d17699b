#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "loop-interchange";

/// A kernel of `body`, launched with memory of three allocations. `t` is its thread in the grid,
/// `a`, `b` and `c` begin at a tile of m rows and n columns of its own.
std::string kernel(const std::string& body) {
    return "__global__ void k(const float* x, const float* b, float* y, int* d, int m, int n) {\n"
           "    int t = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    const float* a = x + t * m * n;\n    float* c = y + t * m * n;\n" +
           body +
           "}\nvoid run(int m, int n) {\n    float *x, *b, *y;\n    int* d;\n"
           "    cudaMalloc(&x, n);\n    cudaMalloc(&b, n);\n    cudaMalloc(&y, n);\n"
           "    cudaMalloc(&d, n);\n    k<<<n / 128, 128>>>(x, b, y, d, m, n);\n}\n";
}

/// `statement` for each column i and each row j of the tile. `ahead` stands before the loops,
/// `behind` after them.
std::string columns(const std::string& statement, const std::string& ahead = "",
                    const std::string& behind = "") {
    return kernel(ahead +
                  "    for (int i = 0; i < n; ++i) {\n        for (int j = 0; j < m; ++j) {\n"
                  "            " +
                  statement + "\n        }\n    }\n" + behind);
}

/// The same row by row.
std::string rows(const std::string& statement, const std::string& ahead = "",
                 const std::string& behind = "") {
    return kernel(ahead +
                  "    for (int j = 0; j < m; ++j) {\n        for (int i = 0; i < n; ++i) {\n"
                  "            " +
                  statement + "\n        }\n    }\n" + behind);
}

const std::string sumsTile = "    float sum = 0.0f;\n";
const std::string keepsSum = "    y[t] = sum;\n";

TEST(LoopInterchange, ExchangesTheHeadsAlone) {
    checkApplicable(id, columns("c[j * n + i] = a[j * n + i] * 2.0f; // doubled"),
                    rows("c[j * n + i] = a[j * n + i] * 2.0f; // doubled"));
}

TEST(LoopInterchange, KeepsStyleAndComments) {
    checkApplicable(id, kernel(R"(    int i, j;
    float v;
    // by columns
    for (i=0 ; i<n; i++)
        /* by rows */
        for (j = 1; j < m; j += 2)  // every other one
        {
            v = a[j*n + i];
            if (v < 0.0f)
                continue;
            c[j*n + i] = v;   /* kept */
        }
)"),
                    kernel(R"(    int i, j;
    float v;
    // by columns
    for (j = 1; j < m; j += 2)
        /* by rows */
        for (i=0 ; i<n; i++)  // every other one
        {
            v = a[j*n + i];
            if (v < 0.0f)
                continue;
            c[j*n + i] = v;   /* kept */
        }
)"));
}

TEST(LoopInterchange, TakesHeadsOfSeveralLines) {
    const std::string text = appliedText(id, kernel(R"(    for (int i = 0;
         i < n; // columns
         ++i) {
        for (int j = 0; j < (m + 1); ++j) {
            c[j * n + i] = a[j * n + i];
        }
    }
)"));
    EXPECT_TRUE(text.contains("    for (int j = 0; j < (m + 1); ++j) {\n"
                              "        for (int i = 0;\n         i < n; // columns\n"
                              "         ++i) {\n"))
        << text;
}

TEST(LoopInterchange, TakesTheOuterPairOfThreeLoops) {
    const std::string text = appliedText(id, kernel(R"(    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < m; ++j) {
            float v = a[j * n + i];
            for (int s = 0; s < 4; ++s) {
                v = v * v + b[s];
            }
            c[j * n + i] = v;
        }
    }
)"));
    EXPECT_TRUE(text.contains("    for (int j = 0; j < m; ++j) {\n"
                              "        for (int i = 0; i < n; ++i) {\n"))
        << text;
}

TEST(LoopInterchange, TakesTheInnerPairOfThreeLoops) {
    const std::string text = appliedText(id, kernel(R"(    for (int s = 0; s < 4; ++s) {
        float scale = b[s];
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < m; ++j) {
                c[j * n + i] += a[j * n + i] * scale;
            }
        }
    }
)"));
    EXPECT_TRUE(text.contains("        for (int j = 0; j < m; ++j) {\n"
                              "            for (int i = 0; i < n; ++i) {\n"))
        << text;
}

/// The cursor that applies an offer is on the loops in the outer one as well.
TEST(LoopInterchange, IsAboutTheLoopsOfTheOffer) {
    const std::string source = "__global__ void k(const float* __restrict__ x,\n"
                               "                  float* __restrict__ y) {\n"
                               "    for (int i = 0; i < 4; ++i) {\n"
                               "        for (int j = 0; j < 4; ++j) {\n"
                               "            for (int s = 0; s < 4; ++s) {\n"
                               "                y[i * 4 + j] += x[j * 4 + s];\n"
                               "            }\n        }\n    }\n}\n";
    const Subject subject = parseSubject(source);
    const Skill& skill = skillNamed(id);
    for (const auto& [outer, inner] : {std::pair{"int i", "int j"}, std::pair{"int j", "int s"}}) {
        const auto at = static_cast<std::uint32_t>(source.find(outer));
        const SkillContext context = subject.context().at({at, at});
        const std::vector<Offer> trials = skill.alternatives(context);
        ASSERT_EQ(trials.size(), 1U);
        const auto edits = skill.apply(context, trials[0]);
        ASSERT_TRUE(edits.has_value());
        const std::vector<analysis::TextEdit>& heads = edits->begin()->second;
        ASSERT_EQ(heads.size(), 2U);
        EXPECT_TRUE(heads[0].newText.starts_with(inner)) << heads[0].newText;
        EXPECT_TRUE(heads[1].newText.starts_with(outer)) << heads[1].newText;
    }
}

TEST(LoopInterchange, IsAboutTheLoopAtTheCursor) {
    checkTarget(
        id,
        kernel("    for (int i = 0; i < n; ++i) {\n        for (int j = 0; j < m; ++j) {\n"
               "            c[j * n + i] = a[j * n + i];\n        }\n    }\n"
               "    for (int q = 0; q < n; ++q) {\n        $0for (int j = 0; j < m; ++j) {\n"
               "            c[j * n + q] += a[j * n + q];\n        }\n    }\n"),
        "for (int q = 0; q < n; ++q) {\n        for (int j = 0; j < m; ++j) {\n"
        "            c[j * n + q] += a[j * n + q];\n        }\n    }");
}

TEST(LoopInterchange, TellsWhatItWins) {
    const Subject subject = parseSubject(columns("c[j * n + i] = a[j * n + i];"));
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer.has_value()) << offer.error().reason;
    EXPECT_EQ(offer->title, "Exchange the loops over i and j");
    EXPECT_TRUE(offer->why.contains("line 6, a[j * n + i] on line 7 moves by n elements"))
        << offer->why;
    EXPECT_TRUE(offer->why.contains("with the loop on line 5 in it, by 1")) << offer->why;
    ASSERT_TRUE(offer->gain.has_value());
    EXPECT_DOUBLE_EQ(offer->gain->factor, 8);
}

/// The sectors that an access uses up in few rounds.
TEST(LoopInterchange, WinsNoMoreThanTheRoundsOfTheOuterLoop) {
    const Subject subject = parseSubject(
        kernel("    for (int i = 0; i < 2; ++i) {\n        for (int j = 0; j < m; ++j) {\n"
               "            y[(t * m + j) * 16 + i] = x[(t * m + j) * 16 + i];\n"
               "        }\n    }\n"));
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer.has_value()) << offer.error().reason;
    EXPECT_DOUBLE_EQ(offer->gain.value().factor, 2);
}

TEST(LoopInterchange, KeepsSumsOfTheirOwnExact) {
    EXPECT_EQ(offeredNumerics(id, columns("c[i] += a[j * n + i];")), Numerics::Exact);
}

TEST(LoopInterchange, FoldsOfIntegersAndExtremesAreExact) {
    EXPECT_EQ(offeredNumerics(id, columns("count += a[j * n + i] > 0.5f;", "    int count = 0;\n",
                                          "    d[t] = count;\n")),
              Numerics::Exact);
    EXPECT_EQ(offeredNumerics(id, columns("best = fmaxf(best, a[j * n + i]);",
                                          "    float best = 0.0f;\n", "    y[t] = best;\n")),
              Numerics::Exact);
    EXPECT_EQ(offeredNumerics(id, columns("if (a[j * n + i] < best)\n"
                                          "                best = a[j * n + i];",
                                          "    float best = 0.0f;\n", "    y[t] = best;\n")),
              Numerics::Exact);
}

TEST(LoopInterchange, FloatSumsOverBothLoopsReassociate) {
    EXPECT_EQ(offeredNumerics(id, columns("sum += a[j * n + i];", sumsTile, keepsSum)),
              Numerics::Reassociates);
    EXPECT_EQ(offeredNumerics(id, columns("sum = sum * a[j * n + i];", sumsTile, keepsSum)),
              Numerics::Reassociates);
    EXPECT_EQ(offeredNumerics(id, columns("y[t] -= a[j * n + i];")), Numerics::Reassociates);
}

/// Rounds that keep their order may need what another one has stored.
TEST(LoopInterchange, LeavesOrderAlongOneLoopAsItIs) {
    EXPECT_EQ(offeredNumerics(id, columns("c[(j + 1) * n + i] = c[j * n + i] * a[j * n + i];")),
              Numerics::Exact);
}

TEST(LoopInterchange, TakesArraysOfEachRound) {
    EXPECT_EQ(offeredNumerics(id, columns("float pair[2];\n            pair[0] = a[j * n + i];\n"
                                          "            pair[1] = pair[0] * pair[0];\n"
                                          "            c[j * n + i] = pair[0] + pair[1];")),
              Numerics::Exact);
}

TEST(LoopInterchange, SearchesTryWhatPromisesNothing) {
    const auto trialsOf = [](const std::string& source) {
        const Subject subject = parseSubject(source);
        EXPECT_FALSE(skillNamed(id).prepare(subject.context()).has_value());
        return skillNamed(id).alternatives(subject.context());
    };
    const std::string crossing = columns("c[i * m + j] = a[j * n + i];");
    const std::vector<Offer> trials = trialsOf(crossing);
    ASSERT_EQ(trials.size(), 1U);
    EXPECT_EQ(trials[0].title, "Exchange the loops over i and j");
    EXPECT_FALSE(trials[0].gain.has_value());
    const Subject subject = parseSubject(crossing);
    EXPECT_TRUE(skillNamed(id).apply(subject.context(), trials[0]).has_value());
    EXPECT_TRUE(trialsOf(rows("c[j * n + i] = a[j * n + i];")).empty());
    EXPECT_TRUE(trialsOf(columns("c[i] = c[j];")).empty());
}

class LoopInterchangeGates : public testing::TestWithParam<GateCase> {};

TEST_P(LoopInterchangeGates, Refuse) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

/// The loops with other heads, around a copy of the tile.
std::string heads(const std::string& outer, const std::string& inner, const std::string& ahead = "",
                  const std::string& behind = "") {
    return kernel(ahead + "    for (" + outer + ") {\n        for (" + inner +
                  ") {\n            c[j * n + i] = a[j * n + i];\n        }\n    }\n" + behind);
}

INSTANTIATE_TEST_SUITE_P(
    All, LoopInterchangeGates,
    testing::Values(
        GateCase{"NoLoop", "no-loop", kernel("    y[t] = x[t];\n")},
        GateCase{"OneLoop", "no-inner-loop",
                 kernel("    for (int i = 0; i < n; ++i)\n        c[i] = a[i];\n")},
        GateCase{"StatementBeside", "imperfect-nest",
                 kernel("    for (int i = 0; i < n; ++i) {\n        c[i] = 0.0f;\n"
                        "        for (int j = 0; j < m; ++j) {\n"
                        "            c[i] += a[j * n + i];\n        }\n    }\n")},
        GateCase{"DeclarationBeside", "imperfect-nest",
                 kernel("    for (int i = 0; i < n; ++i) {\n        float sum = 0.0f;\n"
                        "        for (int j = 0; j < m; ++j) {\n"
                        "            sum += a[j * n + i];\n        }\n"
                        "        c[i] = sum;\n    }\n")},
        GateCase{"LoopUnderACondition", "imperfect-nest",
                 kernel("    for (int i = 0; i < n; ++i) {\n        if (i > t) {\n"
                        "            for (int j = 0; j < m; ++j) {\n"
                        "                c[j * n + i] = a[j * n + i];\n            }\n"
                        "        }\n    }\n")},
        GateCase{"Triangle", "bounds-depend",
                 heads("int i = 0; i < n; ++i", "int j = 0; j < i; ++j")},
        GateCase{"StartOfTheOuter", "bounds-depend",
                 heads("int i = 0; i < n; ++i", "int j = i; j < m; ++j")},
        GateCase{"StepOfTheOuter", "bounds-depend",
                 heads("int i = 1; i < n; ++i", "int j = 0; j < m; j += i")},
        GateCase{"StartFromTheInner", "index-used-later",
                 kernel("    int j = 0;\n    for (int i = m + j; i < n; ++i) {\n"
                        "        for (j = 0; j < m; ++j) {\n"
                        "            c[j * n + i] = a[j * n + i];\n        }\n    }\n")},
        GateCase{"OuterStartFromMemory", "bounds-depend",
                 heads("int i = d[0]; i < n; ++i", "int j = 0; j < m; ++j")},
        GateCase{"StartFromMemory", "bounds-depend",
                 heads("int i = 0; i < n; ++i", "int j = d[0]; j < m; ++j")},
        GateCase{"LengthOfTheRoundBefore", "bounds-depend",
                 kernel("    int length = m;\n    for (int i = 0; i < n; ++i) {\n"
                        "        for (int j = length; j < m; ++j) {\n"
                        "            length = d[j];\n            c[j * n + i] = 0.0f;\n"
                        "        }\n    }\n")},
        GateCase{"Quotient", "divides",
                 heads("int i = 0; i < n; ++i", "int j = 0; j < m / n; ++j")},
        GateCase{"HiddenName", "hidden-name",
                 heads("int i = j; i < n; ++i", "int j = 0; j < m; ++j", "    const int j = m;\n")},
        GateCase{"SameName", "hidden-name",
                 kernel("    for (int i = 0; i < n; ++i) {\n        for (int i = 0; i < m; ++i) {\n"
                        "            c[i * n] = a[i * n];\n        }\n    }\n")},
        GateCase{"KeptIndex", "not-counted-up",
                 heads("; i < n; ++i", "int j = 0; j < m; ++j", "    int i = 0;\n")},
        GateCase{"Downwards", "not-counted-up",
                 heads("int i = n - 1; i >= 0; --i", "int j = 0; j < m; ++j")},
        GateCase{"While", "not-counted-up",
                 kernel("    int i = 0;\n    while (i < n) {\n"
                        "        for (int j = 0; j < m; ++j) {\n"
                        "            c[j * n + i] = a[j * n + i];\n        }\n        ++i;\n    }\n"
                        "    while (i < n) {\n        for (int j = 0; j < m; ++j) {\n"
                        "            c[j * n + i++] = 0.0f;\n        }\n    }\n")},
        GateCase{
            "IndexLater", "index-used-later",
            heads("int i = 0; i < n; ++i", "j = 0; j < m; ++j", "    int j;\n", "    d[t] = j;\n")},
        GateCase{
            "OuterIndexLater", "index-used-later",
            heads("i = 0; i < n; ++i", "int j = 0; j < m; ++j", "    int i;\n", "    d[t] = i;\n")},
        GateCase{"OneLine", "several-statements-a-line",
                 kernel("    for (int i = 0; i < n; ++i) {\n"
                        "        for (int j = 0; j < m; ++j) { c[j * n + i] = a[j * n + i]; }\n"
                        "    }\n")},
        GateCase{"Pragma", "pragma",
                 kernel("    #pragma unroll 4\n    for (int i = 0; i < n; ++i) {\n"
                        "        for (int j = 0; j < m; ++j) {\n"
                        "            c[j * n + i] = a[j * n + i];\n        }\n    }\n")},
        GateCase{"PragmaOfTheInner", "pragma",
                 kernel("    for (int i = 0; i < n; ++i) {\n        #pragma unroll\n"
                        "        for (int j = 0; j < m; ++j) {\n"
                        "            c[j * n + i] = a[j * n + i];\n        }\n    }\n")},
        GateCase{"Macro", "not-counted-up",
                 "#define each(v, count) for (int v = 0; v < count; ++v)\n" +
                     kernel("    each(i, n) {\n        for (int j = 0; j < m; ++j) {\n"
                            "            c[j * n + i] = a[j * n + i];\n        }\n    }\n")},
        GateCase{"Directive", "directive",
                 heads("int i = 0; i < n; ++i", "int j = 0;\n#ifdef HALF\n             j < m / 2;\n"
                                                "#else\n             j < m;\n#endif\n"
                                                "             ++j")},
        GateCase{"SharedRounds", "shared-rounds",
                 kernel("    for (int i = t; i < n; i += gridDim.x * blockDim.x) {\n"
                        "        for (int j = 0; j < m; ++j) {\n"
                        "            y[j * n + i] = x[j * n + i];\n        }\n    }\n")},
        GateCase{"Break", "leaves-loop",
                 columns("if (a[j * n + i] > 1.0f)\n                break;")},
        GateCase{"Return", "leaves-loop",
                 columns("if (a[j * n + i] > 1.0f)\n                return;")},
        GateCase{"Barrier", "barrier", columns("__syncthreads();")},
        GateCase{"Atomic", "atomic", columns("atomicAdd(d, 1);")},
        GateCase{"Shuffle", "warp-operation",
                 columns("c[j * n + i] = __shfl_xor_sync(0xffffffff, a[j * n + i], 1);")},
        GateCase{"Call", "unknown-call", "__device__ void note(int* x);\n" + columns("note(d);")},
        GateCase{"Address", "address-taken", columns("*(&c[j * n + i]) = a[j * n + i];")},
        GateCase{"Reference", "address-taken",
                 columns("float& v = c[j * n + i];\n            v = a[j * n + i];")},
        GateCase{"LastRoundWins", "carried-dependence",
                 columns("last = a[j * n + i];", "    float last = 0.0f;\n", "    y[t] = last;\n")},
        GateCase{"ReadsTheRoundBefore", "carried-dependence",
                 columns("c[j * n + i] = last;\n            last = a[j * n + i];",
                         "    float last = 0.0f;\n")},
        GateCase{"CountsPlaces", "carried-dependence",
                 columns("c[at++] = a[j * n + i];", "    int at = 0;\n")},
        GateCase{"RunningSum", "carried-dependence",
                 columns("sum += a[j * n + i];\n            c[j * n + i] = sum;", sumsTile)},
        GateCase{"PlaceOfTheSmallest", "carried-dependence",
                 columns("if (a[j * n + i] < best) {\n                best = a[j * n + i];\n"
                         "                d[t] = j;\n            }",
                         "    float best = 1e30f;\n")},
        GateCase{"SumInAnInteger", "carried-dependence",
                 columns("count += a[j * n + i] * 0.5f;", "    int count = 0;\n",
                         "    d[t] = count;\n")},
        GateCase{"TwoOperators", "carried-dependence",
                 columns("sum += a[j * n + i];\n            sum *= 0.5f;", sumsTile, keepsSum)},
        GateCase{"MovedPointer", "carried-dependence",
                 columns("*p = a[j * n + i];\n            p += 1;", "    float* p = c;\n")},
        GateCase{"DiagonalNeighbour", "carried-dependence",
                 columns("c[(j + 1) * n + i] = c[j * n + i + 1] * a[j * n + i];")},
        GateCase{"OneElement", "carried-dependence", columns("y[t] = a[j * n + i];")},
        GateCase{"Scattered", "carried-dependence", columns("c[d[j * n + i]] = a[j * n + i];")},
        GateCase{"PitchUnknown", "carried-dependence", columns("y[j * d[0] + i] = a[j * n + i];")},
        GateCase{"FoldThatReadsMore", "carried-dependence",
                 columns("y[t] += a[j * n + i] * y[t];")},
        GateCase{"SharedValue", "carried-dependence",
                 columns("last = a[j * n + i];", "    __shared__ float last;\n")},
        GateCase{"MayAlias", "may-alias",
                 columns("c[j * n + i] = a[j * n + i];") +
                     "void again(float* p, int* q) { k<<<1, 128>>>(p, p, p, q, 1, 1); }\n"},
        GateCase{"Rows", "longer-steps", rows("c[j * n + i] = a[j * n + i];")},
        GateCase{"OtherWorsened", "no-gain", columns("c[i * m + j] = a[j * n + i];")},
        GateCase{"OneRound", "no-gain",
                 kernel("    for (int i = 0; i < 1; ++i) {\n"
                        "        for (int j = 0; j < m; ++j) {\n"
                        "            y[(t * m + j) * 16 + i] = x[(t * m + j) * 16 + i];\n"
                        "        }\n    }\n")},
        GateCase{"SmallSteps", "no-gain", columns("c[j * 4 + i] += a[j * 4 + i];")},
        GateCase{"SideBySide", "coalesced",
                 "__global__ void k(const float* __restrict__ x, float* __restrict__ y, int m) {\n"
                 "    int t = blockIdx.x * blockDim.x + threadIdx.x;\n    if (t >= 4096)\n"
                 "        return;\n    for (int i = 0; i < 64; ++i) {\n"
                 "        for (int j = 0; j < m; ++j) {\n"
                 "            y[(j * 64 + i) * 4096 + t] = x[(j * 64 + i) * 4096 + t];\n"
                 "        }\n    }\n}\n"},
        GateCase{"Transposed", "carried-dependence", columns("c[j * n + i] = c[i * n + j];")}),
    [](const auto& tested) { return tested.param.name; });

TEST(LoopInterchange, TakesRestrictPointersWithoutALaunch) {
    EXPECT_EQ(offeredNumerics(
                  id,
                  "__global__ void k(const float* __restrict__ x, float* __restrict__ y, int m, "
                  "int n) {\n    int t = threadIdx.x;\n"
                  "    for (int i = 0; i < n; ++i) {\n        for (int j = 0; j < m; ++j) {\n"
                  "            y[(t * m + j) * n + i] = x[(t * m + j) * n + i];\n"
                  "        }\n    }\n}\n"),
              Numerics::Exact);
}

} // namespace
} // namespace kernelskill::skills
