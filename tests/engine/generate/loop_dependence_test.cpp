/// Which loops may run in any order: a table of loops with the decision on the outermost one.
#include "engine/generate/loop_dependence.h"
#include "tests/engine/generate/loops.h"

#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <random>
#include <set>
#include <vector>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::LoopFile;

struct Case {
    std::string name;
    /// Body of a function of n, m, k, s (int), x, y (const float*), a, b (float*).
    std::string body;
    LoopClass expected;
    std::string gate;
};

std::ostream& operator<<(std::ostream& out, const Case& test) {
    return out << test.name;
}

class Dependence : public ::testing::TestWithParam<Case> {};

TEST_P(Dependence, OfTheOutermostLoop) {
    const Case& test = GetParam();
    const LoopFile loops("#include <cmath>\nvoid f(int n, int m, int k, int s, const float* x, "
                         "const float* y, const int* list, float* a, float* b) {\n" +
                         test.body + "\n}\n");
    const analysis::CodeMap code(loops.function().body);
    const LoopDependence dependence(*loops.file().source, loops.function(), code);
    const LoopDecision decision = dependence.decide(0);
    EXPECT_EQ(decision.kind, test.expected) << test.body << "\n" << decision.why.reason;
    EXPECT_EQ(decision.why.gate, test.gate) << test.body << "\n" << decision.why.reason;
    EXPECT_EQ(decision.why.reason.empty(), test.gate.empty());
}

constexpr auto parallel = LoopClass::Parallel;
constexpr auto reduction = LoopClass::Reduction;
constexpr auto sequential = LoopClass::Sequential;

std::vector<Case> cases() {
    const std::string overI = "for (int i = 0; i < n; i++) ";
    const std::string overIJ = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) ";
    return {
        {"elementwise", overI + "a[i] = x[i] + y[i];", parallel, ""},
        {"in_place", overI + "a[i] = 2 * a[i];", parallel, ""},
        {"two_outputs", overI + "{ a[i] = x[i]; b[i] = y[i]; }", parallel, ""},
        {"recurrence", overI + "a[i + 1] = a[i];", sequential, "carried-element"},
        {"backward", "for (int i = 1; i < n; i++) a[i] = a[i - 1];", sequential, "carried-element"},
        {"forward_read", "for (int i = 0; i < n - 1; i++) a[i] = a[i + 1];", sequential,
         "carried-element"},
        {"even_reads_all", overI + "a[2 * i] = a[i];", sequential, "carried-element"},
        {"even_and_odd", overI + "a[2 * i] = a[2 * i + 1];", parallel, ""},
        {"even_and_next_even", overI + "a[2 * i] = a[2 * i + 2];", sequential, "carried-element"},
        {"modulo", overI + "a[i % 4] = x[i];", sequential, "unknown-index"},
        {"divided", overI + "a[i / 2] = x[i];", sequential, "unknown-index"},
        {"masked", overI + "a[i & 7] = x[i];", sequential, "unknown-index"},
        {"mirrored_in_place", overI + "a[i] = a[n - 1 - i];", sequential, "carried-element"},
        {"mirrored", overI + "a[i] = x[n - 1 - i];", parallel, ""},
        {"mirrored_write", overI + "a[n - 1 - i] = x[i];", parallel, ""},
        {"second_half", overI + "a[i] = a[i + n];", parallel, ""},
        {"nearly_second_half", overI + "a[i] = a[i + n - 1];", sequential, "carried-element"},
        {"one_element", overI + "a[0] = x[i];", sequential, "same-element"},
        {"one_sum", overI + "a[0] += x[i];", reduction, "same-element"},
        {"square", "for (int i = 0; i < n; i++) a[i * i] = x[i];", sequential, "carried-element"},
        {"runtime_stride", overI + "a[i * s] = x[i];", sequential, "carried-element"},
        {"histogram", overI + "a[list[i]] += 1;", sequential, "unknown-index"},
        {"scatter", overI + "a[list[i]] = x[i];", sequential, "unknown-index"},
        {"gather", overI + "a[i] = x[list[i]];", parallel, ""},
        {"scan", "float sum = 0; " + overI + "{ sum += x[i]; a[i] = sum; }", reduction,
         "reduction"},
        {"sum", "float sum = 0; " + overI + "sum += x[i];", reduction, "reduction"},
        {"maximum", "float top = x[0]; " + overI + "top = std::fmax(top, x[i]);", reduction,
         "reduction"},
        {"carried_scalar", "float last = 0; " + overI + "{ a[i] = last; last = x[i]; }", sequential,
         "carried-variable"},
        {"counter", "int next = 0; " + overI + "if (x[i] > 0) a[next++] = x[i];", sequential,
         "carried-variable"},
        {"private_scalar", overI + "{ float t = x[i]; t *= t; a[i] = t; }", parallel, ""},
        {"private_array", overI + "{ float t[2]; t[0] = x[i]; t[1] = t[0]; a[i] = t[1]; }",
         parallel, ""},
        {"shared_array", "float t[2]; " + overI + "{ t[0] = x[i]; a[i] = t[0]; }", sequential,
         "same-element"},
        {"rows", overIJ + "a[i * m + j] = x[j * n + i];", parallel, ""},
        {"rows_too_short", overIJ + "a[i * (m - 1) + j] = x[i];", sequential, "carried-element"},
        {"rows_of_another_pitch", overIJ + "a[i * s + j] = x[i];", sequential, "carried-element"},
        {"transposed_in_place", overIJ + "a[i * m + j] = a[j * n + i];", sequential,
         "carried-element"},
        {"three_dimensions",
         "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int l = 0; l < k; l++) "
         "a[(i * m + j) * k + l] = x[l];",
         parallel, ""},
        {"padded_rows", overIJ + "a[i * (m + 4) + j] = x[i];", parallel, ""},
        {"row_reads_previous",
         "for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) "
         "a[i * m + j] = a[(i - 1) * m + j];",
         sequential, "carried-element"},
        {"row_reads_within",
         "for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) "
         "a[i * m + j] = a[i * m + j - 1];",
         parallel, ""},
        {"row_reads_across",
         "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) "
         "a[i * m + j] = a[i * m + j + 1];",
         sequential, "carried-element"},
        {"row_sums", overIJ + "a[i] += x[i * m + j];", parallel, ""},
        {"column_sums", overIJ + "a[j] += x[i * m + j];", reduction, "same-element"},
        {"triangle",
         "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) "
         "a[i * n + j] = x[j];",
         parallel, ""},
        {"upper_triangle",
         "for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) "
         "a[i * n + j] = a[i * n + i];",
         sequential, "carried-element"},
        {"mirrored_triangle",
         "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) "
         "a[j * n + i] = a[i * n + j];",
         sequential, "carried-element"},
        {"packed_triangle",
         "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) "
         "a[i * (i + 1) / 2 + j] = x[j];",
         sequential, "unknown-index"},
        {"product",
         "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { float t = 0; "
         "for (int l = 0; l < k; l++) t += x[i * k + l] * y[l * m + j]; "
         "a[i * m + j] = t; }",
         parallel, ""},
        {"bound_changes",
         "int end = m; for (int i = 0; i < n; i++) { "
         "for (int j = 0; j < end; j++) { a[i * m + j] = 0; end++; } }",
         sequential, "carried-variable"},
        {"private_bound_changes",
         "for (int i = 0; i < n; i++) { int end = m; "
         "for (int j = 0; j < end; j++) { a[i * m + j] = 0; end++; } }",
         sequential, "carried-element"},
        {"inner_variable_changes",
         "for (int i = 0; i < n; i++) "
         "for (int j = 0; j < m; j++) { a[i * m + j] = 0; j += 1; }",
         sequential, "carried-element"},
        {"own_variable_changes", overI + "{ a[i] = 0; i++; }", sequential, "not-counted"},
        {"breaks", overI + "{ if (x[i] < 0) break; a[i] = x[i]; }", sequential, "early-exit"},
        {"returns", overI + "{ if (x[i] < 0) return; a[i] = x[i]; }", sequential, "early-exit"},
        {"inner_break", overI + "for (int j = 0; j < m; j++) { if (x[j] < 0) break; a[i] = x[j]; }",
         parallel, ""},
        {"by_two", "for (int i = 0; i < n; i += 2) a[i] = x[i];", parallel, ""},
        {"unrolled_by_two", "for (int i = 0; i < n; i += 2) { a[i] = x[i]; a[i + 1] = x[i]; }",
         parallel, ""},
        {"by_two_into_the_next", "for (int i = 0; i < n; i += 2) a[i] = a[i + 2];", sequential,
         "carried-element"},
        {"by_two_three_written",
         "for (int i = 0; i < n; i += 2) { a[i] = 0; a[i + 1] = 0; a[i + 2] = 0; }", sequential,
         "carried-element"},
        {"odd_from_even", "for (int i = 0; i < n; i += 2) a[i] = a[i + 1] + a[i - 1];", parallel,
         ""},
        {"down_by_three", "for (int i = n - 1; i >= 0; i -= 3) a[i] = a[i - 1];", parallel, ""},
        {"by_constant_variable",
         "const int w = 4; for (int i = 0; i <= n - w; i += w) for (int j = 0; j < w; j++) "
         "a[i + j] = x[i];",
         parallel, ""},
        {"tiles_too_wide",
         "for (int i = 0; i < n; i += 4) for (int j = 0; j < 5; j++) a[i + j] = x[i];", sequential,
         "carried-element"},
        {"by_a_parameter", "for (int i = 0; i < n; i += s) a[i] = x[i];", sequential,
         "not-counted"},
        {"by_two_to_unequal", "for (int i = 0; i != n; i += 2) a[i] = x[i];", sequential,
         "not-counted"},
        {"to_unequal", "for (int i = 0; i != n; i++) a[i] = x[i];", parallel, ""},
        {"down_to_unequal", "for (int i = n; i != 0; i--) a[i - 1] = x[i];", parallel, ""},
        {"by_two_own_variable_changes", "for (int i = 0; i < n; i += 2) { a[i] = 0; i++; }",
         sequential, "not-counted"},
        {"by_two_breaks", "for (int i = 0; i < n; i += 2) { if (x[i] < 0) break; a[i] = 0; }",
         sequential, "early-exit"},
        {"by_two_with_two_conditions", "for (int i = 0; i < n && i < m; i += 2) a[i] = x[i];",
         sequential, "not-counted"},
        {"doubling", "for (int i = 1; i < n; i *= 2) a[i] = x[i];", sequential, "not-counted"},
        {"data_bound", "for (int i = 0; i < list[0]; i++) a[i] = x[i];", sequential, "not-counted"},
        {"two_conditions", "for (int i = 0; i < n && i < m; i++) a[i] = x[i];", sequential,
         "not-counted"},
        {"down", "for (int i = n - 1; i >= 0; i--) a[i] = x[i];", parallel, ""},
        {"alias_of_itself", "float* p = a + 1; " + overI + "p[i] = a[i];", sequential,
         "carried-element"},
        {"alias_apart", "float* p = a + n; " + overI + "p[i] = a[i];", parallel, ""},
        {"walking_pointer", "float* p = a; " + overI + "*p++ = x[i];", sequential,
         "carried-variable"},
        {"loaded_pointer", "const float* p = list[0] ? x : a; " + overI + "a[i] = p[i];",
         sequential, "unknown-array"},
        {"conditional_write", overI + "if (x[i] > 0) a[i] = x[i];", parallel, ""},
        {"conditional_recurrence", "for (int i = 1; i < n; i++) if (x[i] > 0) a[i] = a[i - 1];",
         sequential, "carried-element"},
        {"wide_index", "for (long i = 0; i < n; i++) a[static_cast<long>(i)] = x[i];", parallel,
         ""},
    };
}

INSTANTIATE_TEST_SUITE_P(Loops, Dependence, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

/// Every element that an access touches, by iteration of the outermost loop.
using Touched = std::map<std::int64_t, std::set<std::int64_t>>;

Touched touchedBy(const analysis::KernelModel& function, const LoopDependence& dependence,
                  const analysis::MemoryAccess& access,
                  std::map<analysis::Symbol, std::int64_t> values) {
    Touched touched;
    const LoopRange outer = *dependence.range(access.loops.at(0));
    const LoopRange inner = *dependence.range(access.loops.at(1));
    for (const LoopRange& range : {outer, inner})
        if (range.rounds)
            values[*range.rounds] = roundsIn(*range.distance.evaluate(values), range.step);
    for (std::int64_t i = *outer.first.evaluate(values); i <= *outer.last.evaluate(values);
         i += outer.step) {
        values[outer.variable] = i;
        for (std::int64_t j = *inner.first.evaluate(values); j <= *inner.last.evaluate(values);
             j += inner.step) {
            values[inner.variable] = j;
            touched[i].insert(*access.index->evaluate(values));
        }
    }
    EXPECT_EQ(function.loops.size(), 2U);
    return touched;
}

bool meet(const Touched& writes, const Touched& others) {
    for (const auto& [i, written] : writes)
        for (const auto& [other, elements] : others)
            if (i != other && std::ranges::any_of(elements, [&](std::int64_t element) {
                    return written.contains(element);
                }))
                return true;
    return false;
}

/// A loop that is called parallel must be so at every size: lists all elements of all iterations.
TEST(DependenceProperty, NoTwoIterationsOfAParallelLoopMeet) {
    std::mt19937 random(20240613);
    const auto pick = [&](const std::vector<std::string>& choices) {
        return choices[random() % choices.size()];
    };
    const auto index = [&] {
        return fmt::format("{} * {} + {} * {} + {}", pick({"i", "(n - 1 - i)", "(i + 1)"}),
                           pick({"1", "2", "3", "m", "n", "(m + 1)", "(m - 1)", "2 * m"}),
                           pick({"j", "(m - 1 - j)", "(j + 2)"}),
                           pick({"0", "1", "1", "2", "n", "m"}),
                           pick({"0", "0", "1", "m", "n", "n * m", "2"}));
    };
    std::string text;
    constexpr int functions = 400;
    for (int number = 0; number < functions; ++number) {
        const std::string written = index();
        const std::string read = number % 2 == 0 ? written : index();
        const bool isStepped = number % 4 == 1;
        text += fmt::format(
            "void f{}(int n, int m, float* a) {{\n"
            "    for ({})\n"
            "        for (int j = {}; j {}; j {})\n"
            "            a[{}] = a[{}] + 1;\n}}\n",
            number,
            pick({"int i = 0; i < n; i++", "int i = 1; i < n; i++", "int i = 0; i < n; i += 2",
                  "int i = n - 1; i >= 0; i -= 3", "int i = 1; i <= m; i += 3"}),
            isStepped ? pick({"0", "1", "n"}) : pick({"0", "0", "1", "i", "i + 1"}),
            isStepped ? pick({"< m", "<= n + m"}) : pick({"< m", "< m", "<= m", "< i", "<= i"}),
            isStepped ? pick({"+= 2", "+= 3"}) : "+= 1", written, read);
    }
    const LoopFile loops(text);
    ASSERT_EQ(loops.file().loopFunctions.size(), functions);
    int proved = 0;
    for (const analysis::KernelModel& function : loops.file().loopFunctions) {
        const analysis::CodeMap code(function.body);
        const LoopDependence dependence(*loops.file().source, function, code);
        if (dependence.decide(0).kind != LoopClass::Parallel)
            continue;
        ++proved;
        for (std::int64_t n = 0; n < 6; ++n) {
            for (std::int64_t m = 0; m < 6; ++m) {
                const std::map<analysis::Symbol, std::int64_t> values{
                    {{analysis::SymbolKind::Parameter, function.parameters[0].variable}, n},
                    {{analysis::SymbolKind::Parameter, function.parameters[1].variable}, m}};
                for (const analysis::MemoryAccess& write : function.accesses) {
                    if (write.kind == analysis::AccessKind::Read)
                        continue;
                    for (const analysis::MemoryAccess& other : function.accesses)
                        EXPECT_FALSE(meet(touchedBy(function, dependence, write, values),
                                          touchedBy(function, dependence, other, values)))
                            << "n=" << n << " m=" << m << "\n"
                            << loops.file().source->slice(function.span);
                }
            }
        }
    }
    EXPECT_GE(proved, 10) << "the table says nothing";
}

} // namespace
} // namespace kernelskill::engine
