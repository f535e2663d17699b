/// Which functions a kernel is offered for, and the reason where it is not.
#include "engine/generate/parallel_function.h"
#include "engine/generate/written_function.h"
#include "tests/engine/generate/loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::LoopFile;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Case {
    std::string name;
    std::string text;
    std::string gate; ///< Empty: offered.
};

std::ostream& operator<<(std::ostream& out, const Case& test) {
    return out << test.name;
}

class Nest : public ::testing::TestWithParam<Case> {};

TEST_P(Nest, IsOfferedOrRefusedWithTheGate) {
    const LoopFile loops(GetParam().text);
    const auto nest = findParallelFunction(loops.file(), loops.function());
    if (GetParam().gate.empty()) {
        EXPECT_TRUE(nest) << nest.error().gate << ": " << nest.error().reason;
        return;
    }
    ASSERT_FALSE(nest);
    EXPECT_EQ(nest.error().gate, GetParam().gate) << nest.error().reason;
    EXPECT_FALSE(nest.error().reason.empty());
}

std::vector<Case> cases() {
    const auto over = [](const std::string& body, const std::string& before = "") {
        return before +
               "void f(int n, const float* x, float* y) {\n    for (int i = 0; i < n; i++) {\n" +
               body + "\n    }\n}\n";
    };
    return {
        {"saxpy", over("y[i] = 2 * x[i] + y[i];"), ""},
        {"array_parameters",
         "void f(int n, const float x[], float y[]) { for (int i = 0; i < n; i++) y[i] = x[i]; }",
         ""},
        {"value", "float f(int n, float* y) { for (int i = 0; i < n; i++) y[i] = 0; return y[0]; }",
         ""},
        {"struct_parameter",
         "struct P { float x; };\nvoid f(int n, P* y) { for (int i = 0; i < n; i++) y[i].x = 0; }",
         "parameter-type"},
        {"vector_parameter", "void f(int n, float4* y) { for (int i = 0; i < n; i++) y[i].x = 0; }",
         "parameter-type"},
        {"rows_of_pointers",
         "void f(int n, float** y) { for (int i = 0; i < n; i++) y[i][0] = 0; }", "parameter-type"},
        {"reference_parameter",
         "void f(int& n, float* y) { for (int i = 0; i < n; i++) y[i] = 0; }", "parameter-type"},
        {"host_call", over("y[i] = g(x[i]);", "float g(float v) { return v; }\n"),
         "calls-host-function"},
        {"device_call",
         over("y[i] = g(x[i]);", "__host__ __device__ float g(float v) { return v; }\n"), ""},
        {"standard_call", over("y[i] = std::sqrt(x[i]);", "#include <cmath>\n"), ""},
        {"print", over("printf(\"%f\", x[i]); y[i] = 0;", "#include <cstdio>\n"),
         "unknown-expression"},
        {"global", over("y[i] = scale * x[i];", "float scale = 2;\n"), "global-variable"},
        {"constant", over("y[i] = scale * x[i];", "constexpr int scale = 2;\n"), ""},
        {"static_variable", over("static int calls; calls = 1; y[i] = x[i];"), "static-variable"},
        {"two_nests",
         "void f(int n, float* y) { for (int i = 0; i < n; i++) y[i] = 0;\n"
         "for (int i = 0; i < n; i++) y[i] += 1; }",
         ""},
        {"work_before",
         "void f(int n, float* y) { y[0] = 1; for (int i = 1; i < n; i++) y[i] = 0; }", ""},
        {"work_behind",
         "void f(int n, float* y) { for (int i = 1; i < n; i++) y[i] = 0; y[0] = 1; }", ""},
        {"reads_before",
         "void f(int n, float* y) { float v = y[n]; for (int i = 0; i < n; i++) y[i] = v; }", ""},
        {"value_before_the_end",
         "float f(int n, float* y) { for (int i = 0; i < n; i++) { if (i > 3) return 1; y[i] = 0; "
         "} "
         "return y[0]; }",
         "returns-a-value"},
        {"early_return",
         "float f(int n, const float* y) { if (n == 0) return 0; float s = 0; "
         "for (int i = 0; i < n; i++) s += y[i]; return s; }",
         "work-outside-loops"},
        {"deduced_value",
         "auto f(int n, const float* y) { float s = 0; for (int i = 0; i < n; i++) s += y[i]; "
         "return s; }",
         "returns-a-value"},
        {"sum_into_memory",
         "void f(int n, const float* x, float* out) { float s = 0; "
         "for (int i = 0; i < n; i++) s += x[i]; *out = s; }",
         ""},
        {"sum_for_nothing",
         "void f(int n, const float* x) { float s = 0; for (int i = 0; i < n; i++) s += x[i]; }",
         "writes-nothing"},
        {"scalars_between",
         "void f(int n, const float* x, float* y) { float s = 0; "
         "for (int i = 0; i < n; i++) s += x[i]; float scale = 1; scale = scale / s; "
         "for (int i = 0; i < n; i++) y[i] = scale * x[i]; }",
         ""},
        {"first_of_unchanged_between",
         "float f(int n, const float* x) { float s = 0; "
         "for (int i = 0; i < n; i++) s += x[i]; float m = x[0]; "
         "for (int i = 0; i < n; i++) m = m < x[i] ? x[i] : m; return s * m; }",
         ""},
        {"reads_result_between",
         "void f(int n, float* y) { for (int i = 0; i < n; i++) y[i] *= 2; float s = y[0]; "
         "for (int i = 0; i < n; i++) y[i] += s; }",
         "memory-outside-loops"},
        {"writes_between",
         "void f(int n, float* y, float* z) { for (int i = 0; i < n; i++) y[i] *= 2; z[0] = 1; "
         "for (int i = 0; i < n; i++) y[i] += 1; }",
         "memory-outside-loops"},
        {"reads_another_between",
         "void f(int n, float* y, const float* z) { for (int i = 0; i < n; i++) y[i] *= 2; "
         "float s = z[0]; for (int i = 0; i < n; i++) y[i] += s; }",
         "memory-outside-loops"},
        {"pointer_between",
         "void f(int n, float* y) { for (int i = 0; i < n; i++) y[i] = 0; float* p = y + n; "
         "for (int i = 0; i < n; i++) p[i] = 1; }",
         "pointer-variable"},
        {"walks_between",
         "void f(int n, float* y) { for (int i = 0; i < n; i++) y[i] = 0; y += n; "
         "for (int i = 0; i < n; i++) y[i] = 1; }",
         "unknown-index"},
        {"array_of_the_host",
         "void f(int n, float* y) { float w[2] = {1, 2}; for (int i = 0; i < n; i++) y[i] = w[1]; "
         "for (int i = 0; i < n; i++) y[i] += w[0]; }",
         "unknown-array"},
        {"bound_of_a_result",
         "void f(int n, const float* x, float* y) { int k = 0; "
         "for (int i = 0; i < n; i++) if (x[i] > 0) k++; for (int j = 0; j < k; j++) y[j] = 1; }",
         "not-counted"},
        {"second_nest_is_sequential",
         "void f(int n, float* y) { for (int i = 0; i < n; i++) y[i] = 0; "
         "for (int i = 1; i < n; i++) y[i] = y[i - 1] + 1; }",
         "carried-element"},
        {"while_between",
         "void f(int n, float* y) { for (int i = 0; i < n; i++) y[i] = 0; while (n < 0) n++; "
         "for (int i = 0; i < n; i++) y[i] = 1; }",
         "work-outside-loops"},
        {"row_sums",
         "void f(int n, int m, const float* x, float* y) { for (int i = 0; i < n; i++) { "
         "float s = 0; for (int j = 0; j < m; j++) s += x[i * m + j]; y[i] = s; } }",
         ""},
        {"declares_before",
         "void f(int n, float* y) { const int m = 2 * n; for (int i = 0; i < m; i++) y[i] = m; }",
         ""},
        {"unknown_bound",
         "void f(int n, float* y) { const int m = n / 2; for (int i = 0; i < m; i++) y[i] = m; }",
         "not-counted"},
        {"outside_variable", "void f(int n, float* y) { int i; for (i = 0; i < n; i++) y[i] = 0; }",
         "loop-form"},
        {"down", "void f(int n, float* y) { for (int i = n - 1; i >= 0; i--) y[i] = 0; }", ""},
        {"down_by_two", "void f(int n, float* y) { for (int i = n - 1; i >= 0; i -= 2) y[i] = 0; }",
         ""},
        {"down_by_two_beyond",
         "void f(int n, float* y) { for (int i = n - 1; i >= -1; i -= 2) y[i] = 0; }",
         "negative-index"},
        {"unsigned_down_by_two",
         "void f(unsigned n, float* y) { for (unsigned i = n; i > 1; i -= 2) y[i] = 0; }",
         "counts-down"},
        {"time_steps",
         "void f(int t, int n, float* y) { for (int s = 0; s < t; s++) for (int i = 0; i < n; i++) "
         "y[i] += s; }",
         "same-element"},
        {"gather",
         "void f(int n, const int* list, const float* x, float* y) { "
         "for (int i = 0; i < n; i++) y[i] = x[list[i]]; }",
         "unknown-index"},
        {"histogram",
         "void f(int n, const int* list, int* bins) { "
         "for (int i = 0; i < n; i++) bins[list[i]]++; }",
         "unknown-index"},
        {"prefix_sum",
         "void f(int n, const float* x, float* y) { float sum = 0; "
         "for (int i = 0; i < n; i++) { sum += x[i]; y[i] = sum; } }",
         "reduction"},
        {"conditional_only",
         "void f(int n, const float* x, float* y) { for (int i = 0; i < n; i++) if (x[i] > 0) "
         "y[i] = 1; }",
         "unknown-extent"},
        {"both_arms",
         "void f(int n, const float* x, float* y) { for (int i = 0; i < n; i++) "
         "if (x[i] > 0) y[i] = 1; else y[i] = 2; }",
         ""},
        {"below_zero",
         "void f(int n, const float* x, float* y) { for (int i = 0; i < n; i++) "
         "y[i] = x[i - 1]; }",
         "negative-index"},
        {"pitch",
         "void f(int n, int s, const float* x, float* y) { for (int i = 0; i < n; i++) "
         "y[i] = x[i * s]; }",
         "unknown-extent"},
        {"unsigned_pitch",
         "void f(int n, unsigned s, const float* x, float* y) { for (int i = 0; i < n; i++) "
         "y[i] = x[i * s]; }",
         ""},
        {"overlap_by_call", over("y[i] = x[i];") + "void g(int n, float* v) { f(n, v, v + 1); }\n",
         "arguments-overlap"},
        {"apart_by_call",
         over("y[i] = x[i];") + "void g(int n, float* v, float* w) { f(n, v, w); }\n", ""},
        {"overlap_of_inputs",
         "void f(int n, const float* x, const float* z, float* y) { for (int i = 0; i < n; i++) "
         "y[i] = x[i] + z[i]; }\nvoid g(int n, float* v, float* w) { f(n, v, v, w); }\n",
         ""},
        {"writes_nothing",
         "void f(int n, const float* y) { for (int i = 0; i < n; i++) { float t = y[i]; t += 1; } "
         "}",
         "writes-nothing"},
        {"directive", over("#if 1\n y[i] = x[i];\n#endif"), "has-directives"},
        {"pragma",
         "void f(int n, float* y) {\n#pragma omp parallel for\n"
         "    for (int i = 0; i < n; i++) y[i] = 0;\n}\n",
         ""},
        {"lambda", over("auto twice = [](float v) { return 2 * v; }; y[i] = twice(x[i]);"),
         "global-variable"},
        {"switch_", over("switch (i % 2) { case 0: y[i] = 1; break; default: y[i] = 2; }"),
         "unknown-extent"},
    };
}

INSTANTIATE_TEST_SUITE_P(Functions, Nest, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

std::vector<std::string> elementsOf(const LoopFile& loops) {
    const auto nest = findParallelFunction(loops.file(), loops.function());
    std::vector<std::string> elements;
    if (!nest) {
        ADD_FAILURE() << nest.error().reason;
        return elements;
    }
    for (const ArrayUse& use : nest->arrays)
        elements.push_back(loops.function().parameters[use.parameter].name + "[" +
                           codeOf(use.elements, loops.function().body, false, nest->rounds) + "]" +
                           (use.isRead ? " r" : "") + (use.isWritten ? " w" : "") +
                           (use.isWrittenWhole ? " whole" : ""));
    return elements;
}

TEST(Extents, FollowFromIndexArithmetic) {
    EXPECT_THAT(
        elementsOf(LoopFile(
            "void f(int m, int n, int k, const float* a, const float* b, float* c) {\n"
            "  for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {\n"
            "    float s = 0; for (int l = 0; l < k; l++) s += a[i * k + l] * b[l * n + j];\n"
            "    c[i * n + j] = s; } }")),
        ElementsAre("a[m * k] r", "b[n * k] r", "c[m * n] w whole"));
    EXPECT_THAT(
        elementsOf(LoopFile("void f(int n, const float* x, float* y) {\n"
                            "  for (int i = 1; i < n - 1; i++) y[i] = x[i - 1] + x[i + 1]; }")),
        ElementsAre("x[n] r", "y[n - 1] w"));
    EXPECT_THAT(elementsOf(LoopFile("void f(int n, float* y) {\n"
                                    "  for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) "
                                    "y[i * n + j] = 0; }")),
                ElementsAre("y[n * n] w"));
    EXPECT_THAT(
        elementsOf(LoopFile("void f(int n, int k, const float* x, const float* w, float* y) {\n"
                            "  for (int i = 0; i < n; i++) { float s = 0; "
                            "for (int j = 0; j < k; j++) s += x[i + j] * w[j]; y[i] = s; } }")),
        ElementsAre("x[n + k - 1] r", "w[k] r", "y[n] w whole"));
    EXPECT_THAT(elementsOf(LoopFile("void f(int n, float* y) {\n"
                                    "  for (int i = 0; i < n; i++) y[2 * i] = 0; }")),
                ElementsAre("y[2 * n - 1] w"));
}

TEST(Extents, OfStepsEndAtTheLastElementTouched) {
    EXPECT_THAT(elementsOf(LoopFile("void f(int n, const float* x, float* y) {\n"
                                    "  for (int i = 0; i < n; i += 2) y[i] = x[i + 1]; }")),
                ElementsAre("x[2 * ((n + 1) / 2)] r", "y[2 * ((n + 1) / 2) - 1] w"));
    EXPECT_THAT(elementsOf(LoopFile("void f(const float* x, float* y) {\n"
                                    "  for (int i = 1; i < 9; i += 3) y[i] = x[i]; }")),
                ElementsAre("x[8] r", "y[8] w"));
    EXPECT_THAT(elementsOf(LoopFile("void f(int n, int m, float* y) {\n"
                                    "  for (int i = 0; i < n; i += 4)"
                                    "    for (int j = 0; j < m; j++) y[i * m + j] = 0; }")),
                ElementsAre("y[4 * m * ((n + 3) / 4) - 3 * m] w"));
    EXPECT_THAT(elementsOf(LoopFile("void f(int n, const float* x, float* y) {\n"
                                    "  for (int i = 0; i < n; i += 2) y[i] = x[i] + x[n - 1]; }")),
                ElementsAre("x[n] r", "y[2 * ((n + 1) / 2) - 1] w"))
        << "a step never goes beyond its bound";
}

TEST(Nests, NameTheArraysThatAreTakenToBeApart) {
    const auto apart = [](const std::string& parameters) {
        const LoopFile loops("void f(int n, " + parameters +
                             ") { for (int i = 0; i < n; i++) y[i] = x[i]; }");
        return findParallelFunction(loops.file(), loops.function())->apart;
    };
    EXPECT_THAT(apart("const float* x, float* y"), ElementsAre("x", "y"));
    EXPECT_THAT(apart("const float* x, float* __restrict__ y"), IsEmpty());
}

TEST(Nests, CopyInWhatHasValuesAlone) {
    const auto copied = [](const std::string& body) {
        const LoopFile loops("void f(int n, const float* x, float* y) {" + body + "}");
        const auto parallel = findParallelFunction(loops.file(), loops.function());
        std::string names;
        EXPECT_TRUE(parallel) << parallel.error().reason;
        for (const ArrayUse& use : parallel->arrays)
            if (use.needsValues)
                names += loops.function().parameters[use.parameter].name;
        return names;
    };
    const std::string loop = "for (int i = 0; i < n; i++) ";
    EXPECT_EQ(copied(loop + "y[i] = x[i]; " + loop + "y[i] *= 2;"), "x") << "y is made on the GPU";
    EXPECT_EQ(copied(loop + "y[i] *= x[i]; " + loop + "y[i] = 2;"), "xy");
    EXPECT_EQ(copied(loop + "{ y[i] = x[i]; y[i] += y[i]; }"), "x");
    EXPECT_EQ(copied(loop + "{ y[i] = y[i] + x[i]; }"), "xy");
    EXPECT_EQ(copied(loop + "{ float t = y[i]; y[i] = t + x[i]; }"), "xy");
    EXPECT_EQ(copied("for (int i = 1; i < n; i++) y[i] = x[i];"), "xy") << "y[0] stays";
    EXPECT_EQ(copied("for (int i = 0; i < n; i += 2) y[i] = x[i];"), "xy");
    EXPECT_EQ(copied(loop + "if (x[i] > 0) y[i] = 1; else y[i] = 0;"), "x");
}

TEST(Nests, MapUpToThreeLoopsWithTheContiguousOneToX) {
    const auto axes = [](const std::string& text) {
        const LoopFile loops(text);
        const auto nest = findParallelFunction(loops.file(), loops.function());
        std::vector<int> result;
        if (!nest) {
            ADD_FAILURE() << nest.error().reason;
            return result;
        }
        for (const MappedLoop& mapped : nest->nests.front().loops)
            result.push_back(mapped.axis);
        return result;
    };
    EXPECT_THAT(axes("void f(int n, int m, float* y) { for (int i = 0; i < n; i++) "
                     "for (int j = 0; j < m; j++) y[i * m + j] = 0; }"),
                ElementsAre(1, 0));
    EXPECT_THAT(
        axes("void f(int n, int m, const float* x, float* y) { for (int i = 0; i < n; i++) "
             "for (int j = 0; j < m; j++) y[i * m + j] = x[j * n + i] + x[j * n] * x[i]; }"),
        ElementsAre(0, 1));
    EXPECT_THAT(axes("void f(int n, float* y) { for (int i = 0; i < n; i++) { "
                     "for (int j = 0; j < n; j++) y[i * n + j] = 0; y[i * n] = 1; } }"),
                ElementsAre(0));
    EXPECT_THAT(axes("void f(float* y) { for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) "
                     "for (int k = 0; k < 6; k++) for (int l = 0; l < 7; l++) "
                     "y[((i * 5 + j) * 6 + k) * 7 + l] = 0; }"),
                ElementsAre(2, 1, 0));
}

} // namespace
} // namespace kernelskill::engine
