/// Which variables are folded into, how, and what is left alone.
#include "engine/generate/reduction.h"
#include "tests/engine/generate/loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::LoopFile;

struct Case {
    std::string name;
    std::string body;     ///< Body of a function of n (int), x (const float*), k (const int*).
    std::string expected; ///< `s+0`: s is a sum that starts neutral; else the gate of a refusal.
};

std::ostream& operator<<(std::ostream& out, const Case& test) {
    return out << test.name;
}

class Reductions : public ::testing::TestWithParam<Case> {};

TEST_P(Reductions, OfTheOneLoop) {
    const LoopFile loops("#include <algorithm>\n#include <cmath>\nfloat f(int n, const float* x, "
                         "const int* k) {\n" +
                         GetParam().body + "\nreturn 0;\n}\n");
    const analysis::CodeMap code(loops.function().body);
    const auto found = findReductions(*loops.file().source, loops.function(), code,
                                      loops.function().loops.at(0).statement);
    std::string described;
    if (!found) {
        described = found.error().gate;
        EXPECT_FALSE(found.error().reason.empty());
    } else {
        for (const Reduction& reduction : *found)
            described += loops.function().body.variable(reduction.variable).name +
                         "+<>^"[static_cast<int>(reduction.fold)] +
                         (reduction.startsNeutral ? "0 " : " ");
    }
    EXPECT_EQ(described, GetParam().expected) << GetParam().body;
}

std::vector<Case> cases() {
    const auto over = [](const std::string& before, const std::string& body) {
        return before + " for (int i = 0; i < n; i++) { " + body + " }";
    };
    return {
        {"sum", over("float s = 0;", "s += x[i];"), "s+0 "},
        {"difference", over("float s = 0.0f;", "s -= x[i];"), "s+0 "},
        {"sum_from_something", over("float s = x[0];", "s += x[i];"), "s+ "},
        {"sum_after_something", over("float s = 0; s = 2;", "s += x[i];"), "s+ "},
        {"spelled_out", over("float s = 0;", "s = s + x[i];"), "s+0 "},
        {"spelled_backwards", over("double s = 0;", "s = x[i] * x[i] + s;"), "s+0 "},
        {"product", over("double p = 1;", "p *= x[i];"), ""},
        {"fused", over("float s = 0;", "s = fmaf(x[i], x[i], s);"), "s+0 "},
        {"fused_elsewhere", over("float s = 0;", "s = fmaf(s, x[i], x[i]);"), ""},
        {"count", over("int c = 0;", "if (x[i] > 0) c++;"), "c+0 "},
        {"two", over("float s = 0, q = 0;", "s += x[i]; q += x[i] * x[i];"), "s+0 q+0 "},
        {"maximum", over("float m = x[0];", "m = fmaxf(m, x[i]);"), "m> "},
        {"standard_minimum", over("float m = x[0];", "m = std::min(x[i], m);"), "m< "},
        {"if_greater", over("float m = x[0];", "if (x[i] > m) m = x[i];"), "m> "},
        {"if_greater_turned", over("float m = x[0];", "if (m < x[i]) { m = x[i]; }"), "m> "},
        {"if_not_less", over("float m = x[0];", "if (x[i] <= m) m = x[i];"), "m< "},
        {"chosen", over("float m = x[0];", "m = x[i] > m ? x[i] : m;"), "m> "},
        {"chosen_to_stay", over("float m = x[0];", "m = m < x[i] ? m : x[i];"), "m< "},
        {"through_a_local", over("float m = x[0];", "float v = x[i]; if (v > m) m = v;"), "m> "},
        {"other_than_compared", over("float m = x[0];", "if (x[i] > m) m = x[i + 1];"), ""},
        {"with_else", over("float m = x[0], w = 0;", "if (x[i] > m) m = x[i]; else w = 1;"), ""},
        {"position_as_well",
         over("float m = x[0]; int at = 0;", "if (x[i] > m) { m = x[i]; at = i; }"), ""},
        {"bits", over("int a = -1, o = 0, e = 0;", "a &= k[i]; o |= k[i]; e ^= k[i];"), "e^0 "},
        {"scan", over("float s = 0; float t = 0;", "s += x[i]; t = s;"), "reduction"},
        {"clamped", over("float s = 0;", "if (s < 10) s += x[i];"), "reduction"},
        {"horner", over("float s = 0;", "s = s * 2 + x[i];"), ""},
        {"sum_and_product", over("float s = 0;", "s += x[i]; s *= 2;"), ""},
        {"of_itself", over("float s = 0;", "s += s * x[i];"), "reduction"},
        {"used_as_value", over("float s = 0, t = 0;", "t += s += x[i];"), "t+0 "},
        {"cut_off", over("int s = 0;", "s += x[i];"), "reduction-type"},
        {"cut_off_before", over("int s = 0;", "s += (int)x[i];"), "s+0 "},
        {"of_bytes", over("char s = 0;", "s += k[i];"), "reduction-type"},
        {"long_sum_of_ints", over("long long s = 0;", "s += k[i];"), "s+0 "},
        {"unsigned_maximum_of_ints", over("unsigned m = 0;", "if (k[i] > m) m = k[i];"),
         "reduction-type"},
        {"of_the_round", over("", "float s = 0; s += x[i];"), ""},
        {"last_value", over("float last = 0;", "last = x[i];"), ""},
    };
}

INSTANTIATE_TEST_SUITE_P(Loops, Reductions, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

} // namespace
} // namespace kernelskill::engine
