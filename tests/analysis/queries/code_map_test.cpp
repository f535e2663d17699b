#include "analysis/queries/code_map.h"
#include "tests/analysis/support/analyze.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

namespace kernelskill::analysis {
namespace {

struct Case {
    std::string name;
    std::string statement; ///< That uses `x`, a local of the kernel.
    bool isWritten;
    friend std::ostream& operator<<(std::ostream& out, const Case& shown) {
        return out << shown.statement;
    }
};

class Writes : public ::testing::TestWithParam<Case> {
protected:
    static bool isWritten(const std::string& head) {
        const FileModel file = testing::analyze(
            "struct Pair { int a, b; __device__ void clear(); };\n"
            "struct Step { __device__ void operator()(int& to, int by) const { to += by; } };\n"
            "__device__ void advance(int by, int& to) { to += by; }\n"
            "__device__ int sum(int a, const int& b) { return a + b; }\n"
            "template <typename A> __device__ void put(A& to, int value) { to = value; }\n" +
            head + "__global__ void k(int* out, Step step) {\n    int x = threadIdx.x;\n    " +
            "Pair p = {x, x};\n    int y = 0;\n    " + GetParam().statement +
            "\n    out[threadIdx.x] = y;\n}\n");
        const FunctionBody& body = file.kernels.at(0).body;
        const CodeMap code(body);
        const auto& variables = body.variables;
        const auto x = std::ranges::find(variables, GetParam().statement.contains("p.") ? "p" : "x",
                                         &Variable::name);
        return code.isEverWritten(static_cast<VariableId>(x - variables.begin()));
    }
};

TEST_P(Writes, AreSeen) {
    EXPECT_EQ(isWritten(""), GetParam().isWritten);
}

TEST_P(Writes, AreSeenInTemplates) {
    EXPECT_EQ(isWritten("template <typename T>\n"), GetParam().isWritten);
}

INSTANTIATE_TEST_SUITE_P(
    Uses, Writes,
    ::testing::Values(
        Case{"Read", "y = x + 1;", false}, Case{"Assignment", "x = 3;", true},
        Case{"Increment", "x++;", true}, Case{"Address", "int* q = &x; *q = 2;", true},
        Case{"SecondArgument", "advance(2, x);", true},
        Case{"FirstOfTheSame", "advance(x, y);", false},
        Case{"ConstReference", "y = sum(1, x);", false}, Case{"ByValue", "y = sum(x, 1);", false},
        Case{"Template", "put(x, 2);", true}, Case{"Functor", "step(x, 2);", true},
        Case{"FunctorsValue", "step(y, x);", false}, Case{"Member", "advance(1, p.b);", true},
        Case{"Method", "p.clear();", true}, Case{"Reference", "int& r = x; r = 2;", true},
        Case{"ReferenceToConst", "const int& r = x; y = r;", false}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::analysis
