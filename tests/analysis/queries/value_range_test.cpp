#include "analysis/queries/value_range.h"
#include "tests/analysis/support/analyze.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

namespace kernelskill::analysis {
namespace {

constexpr std::int64_t anyInt = 0x7fffffff;

struct Case {
    std::string name;
    std::string index; ///< In the kernel's `out[index] = 0;`.
    ValueRange range;
    friend std::ostream& operator<<(std::ostream& out, const Case& shown) {
        return out << shown.index;
    }
};

class ValueRanges : public ::testing::TestWithParam<Case> {};

TEST_P(ValueRanges, FollowFromTheText) {
    const FileModel file = testing::analyze(
        "__global__ void k(const unsigned char* bytes, const unsigned* words, const "
        "int* ints, int* out, int n) {\n    int x = ints[threadIdx.x];\n    const int "
        "half = x & 63;\n    int sum = 5;\n    sum += n;\n    if (x >= 3 && x <= 9)\n "
        "       for (int k = 2; k < 8; ++k)\n            out[" +
        GetParam().index + "] = 0;\n}\n");
    const KernelModel& kernel = file.kernels.at(0);
    const CodeMap code(kernel.body);
    const auto store = std::ranges::find_if(code.body().exprs, [](const Expr& expr) {
        return expr.kind == ExprKind::Binary && expr.op == "=";
    });
    ASSERT_NE(store, code.body().exprs.end());
    const ExprId index = code.body().expr(store->children[0]).children[1];
    const auto range = valueRangeOf(kernel, code, index);
    ASSERT_TRUE(range);
    EXPECT_EQ(*range, GetParam().range) << range->low << " to " << range->high;
}

INSTANTIATE_TEST_SUITE_P(
    Expressions, ValueRanges,
    ::testing::Values(
        Case{"Type", "bytes[0]", {0, 255}}, Case{"Quotient", "bytes[0] / 4", {0, 63}},
        Case{"Mask", "ints[0] & 15", {0, 15}}, Case{"Shift", "words[0] >> 24", {0, 255}},
        Case{"UnsignedRemainder", "words[0] % 10", {0, 9}},
        Case{"SignedRemainder", "ints[0] % 10", {-9, 9}}, Case{"Guard", "x", {3, 9}},
        Case{"GuardOfAnother", "ints[n]", {-anyInt - 1, anyInt}}, Case{"Loop", "k", {2, 7}},
        Case{"Initialiser", "half", {0, 63}}, Case{"Changed", "sum", {-anyInt - 1, anyInt}},
        Case{"Clamp", "max(0, min(ints[0], 31))", {0, 31}}, Case{"Sum", "half * 10 + k", {2, 637}},
        Case{"MayWrap", "ints[0] + 1", {-anyInt - 1, anyInt}},
        Case{"Choice", "n > 3 ? k : 20", {2, 20}}, Case{"Cast", "(unsigned char)n", {0, 255}},
        Case{"Thread", "threadIdx.x", {0, 1023}}),
    [](const auto& info) { return info.param.name; });

struct PlacedCase {
    std::string name;
    std::string body; ///< Stores once, to `out`.
    ValueRange range; ///< Of the index.
    friend std::ostream& operator<<(std::ostream& out, const PlacedCase& shown) {
        return out << shown.name;
    }
};

class PlacedValueRanges : public ::testing::TestWithParam<PlacedCase> {};

TEST_P(PlacedValueRanges, FollowGuardsAndLoops) {
    const FileModel file = testing::analyze(
        "__global__ void k(int* out, int n, int w, long long m) {\n" + GetParam().body + "}\n");
    const KernelModel& kernel = file.kernels.at(0);
    const CodeMap code(kernel.body);
    const auto store = std::ranges::find_if(code.body().exprs, [&](const Expr& expr) {
        return expr.kind == ExprKind::Binary && expr.op == "=" &&
               code.body().expr(expr.children[0]).kind == ExprKind::Subscript;
    });
    ASSERT_NE(store, code.body().exprs.end());
    const auto range = valueRangeOf(kernel, code, code.body().expr(store->children[0]).children[1]);
    ASSERT_TRUE(range);
    EXPECT_EQ(range->low, GetParam().range.low);
    EXPECT_EQ(range->high, GetParam().range.high);
}

constexpr std::int64_t anyLong = 0x7fffffffffffffff;

INSTANTIATE_TEST_SUITE_P(
    All, PlacedValueRanges,
    ::testing::Values(
        PlacedCase{"EarlyReturn",
                   "    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
                   "    if (i >= n) return;\n    out[i] = 0;\n",
                   {0, anyInt - 1}},
        PlacedCase{"EarlyReturnOfSeveral",
                   "    size_t i = m;\n    if (i > 99 || w >= n) return;\n    out[i] = 0;\n",
                   {0, 99}},
        PlacedCase{"ReturnThatMayNotHappen",
                   "    size_t i = m;\n    if (i > 99 && w >= n) return;\n    out[i] = 0;\n",
                   {0, anyLong}},
        PlacedCase{"ReturnThatASwitchPasses",
                   "    size_t i = m;\n    switch (w) {\n    case 1:\n        n = 0;\n"
                   "        if (i > 99) return;\n    case 2:\n        out[i] = 0;\n    }\n",
                   {0, anyLong}},
        PlacedCase{"GuardWithElse",
                   "    size_t i = m;\n    if (i > 99) n = 0; else out[i] = 0;\n",
                   {0, anyLong}},
        PlacedCase{"LoopOverTheGrid",
                   "    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
                   "         i += gridDim.x * blockDim.x)\n        out[i] = 0;\n",
                   {0, anyInt - 1}},
        PlacedCase{"DividedAgainAndAgain",
                   "    size_t r = threadIdx.x;\n    for (int k = 0; k < 3; ++k) {\n"
                   "        out[r % w] = 0;\n        r /= w;\n    }\n",
                   {0, 1023}},
        PlacedCase{"DividedByWhatMayBeNegative",
                   "    long long r = threadIdx.x;\n    for (int k = 0; k < 3; ++k) {\n"
                   "        out[r] = 0;\n        r = r / w;\n    }\n",
                   {-1023, 1023}},
        PlacedCase{
            "QuotientWithoutSign", "    size_t r = threadIdx.x;\n    out[r / w] = 0;\n", {0, 1023}},
        PlacedCase{"Grows",
                   "    size_t i = threadIdx.x;\n    for (int k = 0; k < 3; ++k) {\n"
                   "        out[i] = 0;\n        i += w;\n    }\n",
                   {0, anyLong}}),
    [](const ::testing::TestParamInfo<PlacedCase>& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::analysis
