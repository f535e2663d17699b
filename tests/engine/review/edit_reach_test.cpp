/// Edits whose code no input reaches are refused, and the place is named.
#include "engine/review/edit_reach.h"
#include "tests/engine/review/review_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

std::string elementwise(const std::string& body) {
    return "__global__ void k(const float* x, float* y, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
           body +
           "}\nint main() { int n = 1 << 16; float *x, *y;\n"
           "    k<<<(n + 255) / 256, 256>>>(x, y, n); }\n";
}

class EditReachTest : public kernelskill::testing::ReviewFixture {
protected:
    static void expectRefused(const Verdict& verdict, const std::string& sentence) {
        EXPECT_EQ(verdict.status, VerdictStatus::Invalid) << report(verdict);
        EXPECT_TRUE(verdict.isAboutEdit) << report(verdict);
        EXPECT_THAT(verdict.summary, HasSubstr(sentence));
    }
};

/// The launch takes one step, and more would read beyond `by`.
std::string inSteps(const std::string& leave) {
    return "__global__ void k(const float* x, const float* by, float* y, int n, int steps) {\n"
           "    int i = blockIdx.x * (blockDim.x - 2 * steps) + threadIdx.x - steps;\n"
           "    float v = i >= 0 && i < n ? x[i] : 0;\n"
           "    for (int step = 0; step < steps; ++step) {\n"
           "        v += by[steps];\n        " +
           leave +
           "\n        v = 2 * v;\n    }\n"
           "    if (i >= 0 && i < n && threadIdx.x >= steps && threadIdx.x < blockDim.x - steps)\n"
           "        y[i] = v;\n}\n"
           "// kernelskill: launch k<<<4, 64>>>(x=rand[200], by=rand[4], y=zero[200], n=200, "
           "steps=1)\n";
}

TEST_F(EditReachTest, RefusesEditsBehindAnUnshownBreak) {
    for (const char* leave :
         {"if (step == steps - 1) break;", "if (step == steps - 1) { v += 1; continue; }",
          "if (step == steps - 1) { if (v > 0) continue; else break; }"})
        expectRefused(review(inSteps(leave), "v = 2 * v", "v = 3 * v"), "was reached by no input");
}

TEST_F(EditReachTest, WatchesTheOriginalAlikeForEachEdit) {
    const std::string text = elementwise("    if (i >= n) return;\n"
                                         "    float v = x[i];\n"
                                         "    if (v > 0.5f) v = 1;\n"
                                         "    if (v < -0.5f) v = -1;\n"
                                         "    y[i] = v;\n");
    const ProgramSource original = program(text);
    const auto watchedFor = [&](const std::string& from, const std::string& to) {
        std::string edited = text;
        edited.replace(edited.find(from), from.size(), to);
        std::vector<analysis::Span> spans;
        for (const WatchedCondition& watched :
             EditReach(original, program(edited)).original().watched)
            spans.push_back(watched.span);
        return spans;
    };
    const auto first = watchedFor("v = 1", "v = 2");
    EXPECT_EQ(first.size(), 3u);
    EXPECT_EQ(first, watchedFor("v = -1", "v = -2"));
    EXPECT_EQ(first, watchedFor("y[i] = v", "y[i] = v + 1"));
}

TEST_F(EditReachTest, NamesABranchThatNoInputReached) {
    expectRefused(review(elementwise("    if (i < n) y[i] = 2 * x[i];\n"), "y[i] = 2 * x[i];",
                         "{\n        if (n == 777777)\n            y[i] = 0;\n        else\n"
                         "            y[i] = 2 * x[i];\n    }"),
                  "line 5 was reached by no input");
}

TEST_F(EditReachTest, NamesAConditionThatNeverChanged) {
    const std::string text = elementwise("    if (i < n) y[i] = 2 * x[i];\n");
    expectRefused(review(text, "2 * x[i]", "n == 777777 ? 0 : 2 * x[i]"),
                  "on line 3, 'n == 777777' was false for every input");
    expectRefused(review(text, "i < n", "i < n && n != 777777"),
                  "on line 3, 'n != 777777' was true for every input");
}

TEST_F(EditReachTest, NamesWhatTheEditRemoves) {
    expectRefused(review(elementwise("    if (n == 777777) return;\n"
                                     "    if (i < n) y[i] = 2 * x[i];\n"),
                         "    if (n == 777777) return;\n", ""),
                  "in the original, on line 3, 'n == 777777' was false for every input");
}

TEST_F(EditReachTest, TrustsTheReviewsOfEachStepOfASum) {
    const std::string text = elementwise("    if (n == 777777) return;\n"
                                         "    if (i < n) y[i] = 2 * x[i];\n");
    const Verdict sum = review(text, "    if (n == 777777) return;\n", "", {}, true);
    EXPECT_EQ(sum.status, VerdictStatus::Unmeasured) << report(sum);
    EXPECT_THAT(report(sum), HasSubstr("'n == 777777' was false for every input"));
    // A difference that inputs show is refused all the same.
    const Verdict wrong = review(text, "2 * x[i]", "3 * x[i]", {}, true);
    EXPECT_EQ(wrong.status, VerdictStatus::Incorrect) << report(wrong);
}

TEST_F(EditReachTest, NamesAnEditInsideOfABranchThatNoInputReached) {
    expectRefused(review(elementwise("    if (n == 777777)\n        y[0] = 1;\n"
                                     "    else if (i < n)\n        y[i] = 2 * x[i];\n"),
                         "y[0] = 1", "y[0] = 2"),
                  "line 4 was reached by no input");
}

TEST_F(EditReachTest, LeavesOutWhatBothVersionsHave) {
    const Verdict verdict = review(elementwise("    if (n == 777777) y[0] = 1;\n"
                                               "    if (i < n) y[i] = x[i] + x[i];\n"),
                                   "    if (n == 777777) y[0] = 1;\n"
                                   "    if (i < n) y[i] = x[i] + x[i];\n",
                                   "    const int at = i;\n\n    if (n == 777777)\n"
                                   "        y[0] = 1;\n    if (at < n) y[at] = 2 * x[at];\n");
    EXPECT_EQ(verdict.status, VerdictStatus::Unmeasured) << report(verdict);
}

TEST_F(EditReachTest, AcceptsTailsAndRareValues) {
    const Verdict verdict =
        review(elementwise("    if (i < n) y[i] = fminf(x[i], 100.0f);\n"),
               "    if (i < n) y[i] = fminf(x[i], 100.0f);\n",
               "    for (int at = 4 * i; at < n; at += 4 * gridDim.x * blockDim.x) {\n"
               "        if (at + 3 < n) {\n"
               "            for (int j = 0; j < 4; ++j)\n"
               "                y[at + j] = x[at + j] > 100.0f ? 100.0f\n"
               "                            : x[at + j] != x[at + j] ? 100.0f : x[at + j];\n"
               "        } else {\n"
               "            for (int j = at; j < n; ++j)\n"
               "                y[j] = fminf(x[j], 100.0f);\n        }\n    }\n");
    EXPECT_EQ(verdict.status, VerdictStatus::Unmeasured) << report(verdict);
}

TEST_F(EditReachTest, SaysThatAGuardNeverHeldAThreadBack) {
    const Verdict verdict =
        review(elementwise("    if (i < n) y[i] = 2 * x[i];\n"), "if (i < n) y[i] = 2 * x[i]",
               "if (i < n && 0 < n) y[i] = x[i] + x[i]");
    EXPECT_EQ(verdict.status, VerdictStatus::Unmeasured) << report(verdict);
    EXPECT_THAT(report(verdict), HasSubstr("on line 3, '0 < n' was true for every input"));
}

/// A program of constant sizes, as many are: no input makes the guard false.
TEST_F(EditReachTest, TakesBoundsThatBothVersionsHaveForSizes) {
    const std::string text = "#define N 1024\n"
                             "__global__ void k(const float* x, float* y) {\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < N) y[i] = 2 * x[i];\n"
                             "}\nint main() { float *x, *y; k<<<N / 256, 256>>>(x, y); }\n";
    const std::string work = "if (i < N) y[i] = 2 * x[i]";
    const Verdict same = review(text, work, "if (i < N && blockIdx.x < N) y[i] = x[i] + x[i]");
    EXPECT_EQ(same.status, VerdictStatus::Unmeasured) << report(same);
    EXPECT_THAT(report(same), HasSubstr("'blockIdx.x < N' was true for every input"));
    expectRefused(review(text, work, "if (i < N && blockIdx.x < 2000) y[i] = x[i] + x[i]"),
                  "'blockIdx.x < 2000' was true for every input");
    expectRefused(review(text, work, "if (i < N && blockIdx.x != 1024) y[i] = x[i] + x[i]"),
                  "was true for every input");
}

TEST_F(EditReachTest, NamesALabelThatNoInputChose) {
    const std::string text = elementwise("    if (i < n) switch (n) {\n"
                                         "    case 777777: y[i] = 0; break;\n"
                                         "    case 888888: y[i] = 1; break;\n"
                                         "    default: y[i] = 2 * x[i];\n    }\n");
    expectRefused(review(text, "y[i] = 0", "y[i] = 3"), "no input chose 'case 777777' on line 4");
    expectRefused(review(text, "case 777777", "case 777778"),
                  "no input chose 'case 777778' on line 4");
    expectRefused(review(text, "    case 888888: y[i] = 1; break;\n", ""),
                  "in the original, no input chose 'case 888888' on line 5");
}

TEST_F(EditReachTest, TriesTheLabelsOfAParameter) {
    const std::string text =
        "__global__ void k(const float* x, float* y, int mode, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= n) return;\n"
        "    switch (mode) {\n    case 40: y[i] = x[i]; break;\n    case 50: y[i] = -x[i]; break;\n"
        "    default: y[i] = 2 * x[i];\n    }\n}\nint main() { int n = 5000; float *x, *y;\n"
        "    k<<<(n + 255) / 256, 256>>>(x, y, 3, n); }\n";
    const Verdict wrong = review(text, "y[i] = -x[i]", "y[i] = x[i]");
    EXPECT_EQ(wrong.status, VerdictStatus::Incorrect) << report(wrong);
    const Verdict same = review(text, "y[i] = -x[i]", "{ float v = x[i]; y[i] = -v; }");
    EXPECT_EQ(same.status, VerdictStatus::Unmeasured) << report(same);
}

TEST_F(EditReachTest, NamesALoopThatNeverEndedByItsCondition) {
    expectRefused(
        review(elementwise("    if (i < n) {\n        float v = x[i];\n"
                           "        while (v > 1) v *= 0.5f;\n        y[i] = v;\n    }\n"),
               "while (v > 1) v *= 0.5f;",
               "for (int r = 0; r < 400; ++r) { if (!(v > 1)) break; v *= 0.5f; }"),
        "on line 5, 'r < 400' was true for every input");
}

TEST_F(EditReachTest, NamesConditionsThatCannotBeWatched) {
    const std::string text =
        "#define PICK(v) (2 * (v))\n" + elementwise("    if (i < n) y[i] = PICK(x[i]);\n");
    expectRefused(review(text, "(2 * (v))", "(n == 777777 ? 0 : 2 * (v))"),
                  "the conditions in 'PICK(v) (n == 777777 ? 0 : 2 * (v))' on line 1 cannot be "
                  "watched");
    expectRefused(review(text, "y[i] = PICK(x[i])",
                         "y[i] = [&](float v) { return n == 777777 ? 0 : 2 * v; }(x[i])"),
                  "cannot be watched");
    const Verdict right = review(text, "(2 * (v))", "((v) * 2)");
    EXPECT_EQ(right.status, VerdictStatus::Unmeasured) << report(right);
}

TEST_F(EditReachTest, NamesConditionsOfMacrosAndConstexprFunctions) {
    const std::string text =
        "#define MAGIC 777777\n"
        "__device__ constexpr float twice(float v, int n) { return 2 * v; }\n" +
        elementwise("    if (i < n) y[i] = twice(x[i], n);\n");
    expectRefused(review(text, "return 2 * v;", "return n == 777777 ? 0 : 2 * v;"),
                  "on line 2, 'n == 777777' was false for every input");
    expectRefused(review(text, "twice(x[i], n)", "n == MAGIC ? 0 : twice(x[i], n)"),
                  "on line 5, 'n == MAGIC' was false for every input");
}

TEST_F(EditReachTest, NamesConditionsInHeaders) {
    const std::string text = "#include \"kernelskill-part.cuh\"\n" +
                             elementwise("    if (i < n) y[i] = twice(x[i], n);\n");
    ProgramSource source = program(text);
    const std::string header =
        (std::filesystem::path(source.file).parent_path() / "kernelskill-part.cuh").string();
    const std::string part = "__device__ float twice(float v, int n) {\n    return 2 * v;\n}\n";
    source.unsaved[header] = part;
    auto model =
        analysis::analyzeFile(source.file, text, source.command, bench_.toolchain, source.unsaved);
    ASSERT_TRUE(model);
    source.model = std::make_shared<const analysis::FileModel>(std::move(*model));
    const auto reviewed = [&](std::string_view to) {
        const auto begin = static_cast<std::uint32_t>(part.find("2 * v"));
        const analysis::EditSet edits{{header, {{{begin, begin + 5}, std::string(to)}}}};
        auto verdict = Reviewer(executor_.get(), bench_.toolchain)
                           .review({source, source.model->kernels.at(0)}, edits, {}, {}, {},
                                   {.seed = testSeed()});
        EXPECT_TRUE(verdict) << verdict.error().describe();
        return verdict ? *verdict : Verdict{};
    };
    expectRefused(reviewed("n == 777777 ? 0 : 2 * v"),
                  "on line 2 of kernelskill-part.cuh, 'n == 777777' was false for every input");
    const Verdict right = reviewed("v > 3 ? v * 2 : v + v");
    EXPECT_EQ(right.status, VerdictStatus::Unmeasured) << report(right);
}

TEST_F(EditReachTest, TriesBothSidesOfAnAlignment) {
    const Verdict verdict = review(
        elementwise("    if (i < n) y[i] = 2 * x[i];\n"), "    if (i < n) y[i] = 2 * x[i];\n",
        "    const bool aligned = (reinterpret_cast<size_t>(x) | reinterpret_cast<size_t>(y)) % 16 "
        "== "
        "0;\n    if (aligned && 4 * i + 3 < n) {\n"
        "        const float4 v = reinterpret_cast<const float4*>(x)[i];\n"
        "        reinterpret_cast<float4*>(y)[i] = {2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w};\n"
        "    } else {\n"
        "        for (int j = 4 * i; j < n && j < 4 * i + 4; ++j) y[j] = 2 * x[j];\n    }\n");
    EXPECT_EQ(verdict.status, VerdictStatus::Unmeasured) << report(verdict);
    EXPECT_THAT(report(verdict), HasSubstr("the alignment of buffers"));
}

TEST_F(EditReachTest, SaysThatAnAddressWasNotTried) {
    const Verdict verdict =
        review(elementwise("    if (i < n) y[i] = 2 * x[i];\n"), "y[i] = 2 * x[i]",
               "y[i] = reinterpret_cast<size_t>(x) % 4 == 0 ? x[i] + x[i] : 2 * x[i]");
    EXPECT_EQ(verdict.status, VerdictStatus::Unmeasured) << report(verdict);
    EXPECT_THAT(report(verdict), HasSubstr("not tried, because it depends on the address"));
}

} // namespace
} // namespace kernelskill::engine
