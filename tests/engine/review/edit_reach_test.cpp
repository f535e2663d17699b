/// Edits whose code no input reaches are refused, and the place is named.
#include "tests/engine/review/review_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
