#include "analysis/queries/grid_stride_loops.h"
#include "tests/analysis/support/analyze.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

namespace kernelskill::analysis {
namespace {

struct Case {
    std::string name;
    std::string condition;
    std::string limit; ///< Empty: the condition is no bounds check of an index.
    bool whenTrue = true;
    friend std::ostream& operator<<(std::ostream& out, const Case& shown) {
        return out << shown.condition;
    }
};

class BoundsChecks : public ::testing::TestWithParam<Case> {};

TEST_P(BoundsChecks, AreReadInAnySpelling) {
    const FileModel file =
        testing::analyze("__global__ void k(float* y, int n, unsigned u, size_t z, float f) {\n"
                         "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                         "    unsigned j = i;\n    size_t l = j;\n    if (" +
                         GetParam().condition + ")\n        y[i] = y[j] + y[l];\n}\n");
    const KernelModel& kernel = file.kernels.at(0);
    const CodeMap code(kernel.body);
    const auto guard = std::ranges::find(code.body().stmts, StmtKind::If, &Stmt::kind);
    ASSERT_NE(guard, code.body().stmts.end());
    const auto check = boundsCheck(code, guard->condition);
    ASSERT_EQ(check.has_value(), !GetParam().limit.empty());
    if (!check)
        return;
    EXPECT_EQ(check->whenTrue, GetParam().whenTrue);
    EXPECT_EQ(file.source->slice(code.body().expr(check->limit).span), GetParam().limit);
    EXPECT_TRUE(GetParam().condition.contains(code.body().variable(check->variable).name));
}

INSTANTIATE_TEST_SUITE_P(
    Conditions, BoundsChecks,
    ::testing::Values(
        Case{"Less", "i < n", "n"}, Case{"Greater", "(n) > (i)", "n"},
        Case{"Fails", "i >= n", "n", false}, Case{"FailsTheOtherWayRound", "n <= i", "n", false},
        Case{"Not", "!(i < n)", "n", false}, Case{"NotFails", "!(i >= n)", "n"},
        Case{"TwiceNot", "!!(n > i)", "n"}, Case{"NotInParentheses", "!(!((i < n)))", "n"},
        Case{"CastLimit", "!(l < static_cast<size_t>(n))", "static_cast<size_t>(n)", false},
        Case{"CastOfItself", "(unsigned)j < u", "u"},
        Case{"WiderIndex", "static_cast<long long>(i) < n", "n"},
        Case{"AsItWouldBeCompared", "(size_t)j < z", "z"},
        Case{"UnsignedAsTheLimit", "(unsigned)i < (unsigned)n", "(unsigned)n"},
        Case{"CastCondition", "(bool)(i < n)", "n"},
        // A negative n is less than any index in one comparison and greater in the other.
        Case{"SignedIndexOfUnsigned", "(int)j < n", ""},
        Case{"UnsignedIndexOfSigned", "(size_t)i < n", ""}, Case{"NarrowIndex", "(short)i < n", ""},
        Case{"NarrowFirst", "(size_t)(int)l < z", ""}, Case{"Rounded", "(float)i < f", ""},
        Case{"Equal", "i == n", ""}, Case{"NotEqual", "!(i != n)", ""},
        Case{"Sum", "i + 1 < n", ""}, Case{"Both", "!(i < n && j < u)", ""}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::analysis
