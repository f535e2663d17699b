#include "tests/analysis/support/analyze.h"

#include <gtest/gtest.h>

namespace kernelskill::analysis {
namespace {

using testing::analyze;
using testing::textOf;

TEST(MacroSpans, EndWhereTheUseOfAMacroOfMacrosEnds) {
    const FileModel model = analyze("#define N 512\n"
                                    "#define BOUND(constant, variable) constant\n"
                                    "#define LIMIT BOUND(N, n)\n"
                                    "__global__ void k(float* a, int n) {\n"
                                    "  int i = threadIdx.x;\n"
                                    "  if ((i < LIMIT) && n > 0)\n"
                                    "    for (int j = 0; j < LIMIT; j++) a[j + LIMIT * i] = 0;\n"
                                    "}\n");
    const KernelModel& kernel = model.kernels.at(0);
    std::vector<std::string> compared;
    for (const Expr& expr : kernel.body.exprs)
        if (expr.kind == ExprKind::Binary && (expr.op == "<" || expr.op == "+"))
            compared.emplace_back(textOf(model, expr.span));
    EXPECT_EQ(compared, (std::vector<std::string>{"i < LIMIT", "j < LIMIT", "j + LIMIT * i"}));
    EXPECT_EQ(textOf(model, kernel.body.expr(kernel.loops.at(0).upperBound).span), "LIMIT");
}

TEST(MacroSpans, EndBehindLongArguments) {
    for (const std::size_t length : {3, 70, 700}) {
        const std::string sum = "x" + std::string(length, ' ') + "+ (y)";
        const FileModel model = analyze("#define TWICE(v) (2 * (v))\n"
                                        "__global__ void k(int* a, int x, int y) {\n"
                                        "  a[0] = TWICE(" +
                                        sum + ") - 1;\n}\n");
        for (const Expr& expr : model.kernels.at(0).body.exprs)
            if (expr.kind == ExprKind::Binary && expr.op == "-")
                EXPECT_EQ(textOf(model, expr.span), "TWICE(" + sum + ") - 1");
    }
}

} // namespace
} // namespace kernelskill::analysis
