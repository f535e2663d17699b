#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "address-strength-reduction";

TEST(AddressStrengthReduction, CountsByOneWithoutBrackets) {
    checkApplicable(id, R"(
__global__ void spread(const int* in, int* out, unsigned rows, unsigned columns) {
    out += threadIdx.x;
    #pragma unroll 2
    for (size_t i = 0; i < rows; ++i) // all of them
        out[i / (columns + 1)] += in[i % (columns + 1) * rows]; // by column
}
)",
                    R"(
__global__ void spread(const int* in, int* out, unsigned rows, unsigned columns) {
    out += threadIdx.x;
    // i divided by columns + 1, carried from round to round.
    size_t quotient = 0;
    size_t remainder = 0;
    #pragma unroll 2
    for (size_t i = 0; i < rows; ++i) { // all of them
        out[quotient] += in[remainder * rows]; // by column
        if (++remainder == (columns + 1)) {
            remainder = 0;
            ++quotient;
        }
    }
}
)");
}

TEST(AddressStrengthReduction, CarriesSeveralDivisorsUnderFreeNames) {
    checkApplicable(id, R"(
template <typename T>
__global__ void channels(T* __restrict__ x, const T* bias, int n, int c, int hw) {
    const int total = n * c * hw;
    const int tid = threadIdx.x;
    int remainder = 0;
    for (int k = tid; k < total; k += blockDim.x) {
        if (k % hw == 0)
            ++remainder;
        x[k] += bias[(k / hw) % c] + bias[k / (c * hw)];
    }
    x[0] = remainder;
}
)",
                    R"(
template <typename T>
__global__ void channels(T* __restrict__ x, const T* bias, int n, int c, int hw) {
    const int total = n * c * hw;
    const int tid = threadIdx.x;
    int remainder = 0;
    // k divided by hw and c * hw, carried from round to round.
    const int step = blockDim.x;
    int quotient = tid / hw;
    int remainder2 = tid % hw;
    const int quotientStep = step / hw;
    const int remainderStep = step % hw;
    int quotient2 = tid / (c * hw);
    int remainder3 = tid % (c * hw);
    const int quotientStep2 = step / (c * hw);
    const int remainderStep2 = step % (c * hw);
    for (int k = tid; k < total; k += blockDim.x) {
        if (remainder2 == 0)
            ++remainder;
        x[k] += bias[(quotient) % c] + bias[quotient2];
        remainder2 += remainderStep;
        quotient += quotientStep;
        if (remainder2 >= hw) {
            remainder2 -= hw;
            ++quotient;
        }
        remainder3 += remainderStep2;
        quotient2 += quotientStep2;
        if (remainder3 >= (c * hw)) {
            remainder3 -= c * hw;
            ++quotient2;
        }
    }
    x[0] = remainder;
}
)");
}

TEST(AddressStrengthReduction, LeavesOutAQuotientThatNobodyAsksFor) {
    const std::string text = appliedText(id, R"(
__global__ void wrap(float* ring, const float* in, int n, unsigned size) {
    for (int i = threadIdx.x; i < n; i += 2) {
        for (int j = 0; j < 4; ++j) {
            if (in[j] < 0)
                continue;
            ring[i % size] += in[i + j];
        }
    }
}
)");
    EXPECT_TRUE(text.contains("    unsigned int remainder = first % size;\n"
                              "    const unsigned int remainderStep = 2 % size;\n"))
        << text;
    EXPECT_TRUE(text.contains("            ring[remainder] += in[i + j];\n")) << text;
    EXPECT_TRUE(text.contains("        remainder += remainderStep;\n"
                              "        if (remainder >= size) {\n"
                              "            remainder -= size;\n"
                              "        }\n"))
        << text;
    EXPECT_FALSE(text.contains("quotient")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(AddressStrengthReduction, ComputesItsGainFromTheRound) {
    const auto gainOf = [](const std::string& type) {
        const Subject subject = parseSubject("__global__ void k(int* x, " + type + " n, " + type +
                                             " m) {\n    for (" + type +
                                             " i = 0; i < n * m; ++i) {\n        x[i / m] = 0;\n"
                                             "    }\n}\n");
        const auto offer = skillNamed(id).prepare(subject.context());
        EXPECT_TRUE(offer) << offer.error().reason;
        return offer && offer->gain ? offer->gain->factor : 0.0;
    };
    EXPECT_DOUBLE_EQ(gainOf("int"), 22.0 / 7.0); // an assignment, a subscript
    EXPECT_DOUBLE_EQ(gainOf("long long"), 72.0 / 7.0);
}

TEST(AddressStrengthReduction, IsExactAndAboutTheLoop) {
    const std::string loops = R"(
__global__ void k(int* x, int n, unsigned m) {
    for (int i = 0; i < n; ++i)
        x[i] = i / m;
    for (int j = 0; j < n; ++j)
        x[j] += $0j % m;
}
)";
    EXPECT_EQ(offeredNumerics(id, loops), Numerics::Exact);
    checkTarget(id, loops, "for (int j = 0; j < n; ++j)\n        x[j] += j % m;");
}

/// `body` in a loop; `m` is unsigned, `s` is not.
std::string looping(const std::string& body,
                    const std::string& head = "int i = threadIdx.x; i < n; i += blockDim.x") {
    return "#define ROW(i) ((i) / m)\n#define WIDTH m\ntemplate <int W> __global__ void k(int* x, "
           "int n, unsigned "
           "m, int s, int t) {\n    for (" +
           head + ") {\n" + body + "    }\n}\n";
}

class AddressStrengthReductionIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(AddressStrengthReductionIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, AddressStrengthReductionIsNotOffered,
    testing::Values(
        GateCase{"NoLoop", "no-loop", "__global__ void k(int* x, int m) {\n    x[3 / m] = 1;\n}\n"},
        GateCase{"NoDivision", "no-division", looping("        x[i] = m / 2;\n")},
        GateCase{"OfAnotherValue", "no-division", looping("        x[i] = (i + 1) / m;\n")},
        GateCase{"Constant", "constant-divisor", looping("        x[i] = i / 24;\n")},
        GateCase{"TemplateArgument", "constant-divisor", looping("        x[i] = i % (2 * W);\n")},
        GateCase{"NamedConstant", "constant-divisor",
                 "__global__ void k(int* x, int n) {\n    const unsigned m = 4 * 6;\n    for (int "
                 "i = 0; i < n; ++i)\n        x[i] = i / m;\n}\n"},
        GateCase{"Assigned", "divisor-changes",
                 looping("        x[i] = i / m;\n        m += 2;\n")},
        GateCase{"OwnInTheRound", "divisor-changes",
                 looping("        const unsigned w = m + x[i];\n        x[i] = i / w;\n")},
        GateCase{"Loaded", "divisor-changes", looping("        x[i] = i / x[0];\n")},
        GateCase{"ByItself", "divisor-changes", looping("        x[i] = i / (i + m);\n")},
        GateCase{"Float", "divisor-changes",
                 "__global__ void k(float* x, int n, float m) {\n    for (int i = 0; i < n; ++i)\n"
                 "        x[i] = i / m;\n}\n"},
        GateCase{"Signed", "divisor-may-be-negative", looping("        x[i] = i / s;\n")},
        GateCase{"NoFactor", "divisor-may-be-negative",
                 looping("        x[i] = i / s;\n", "int i = 0; i < n * t; ++i")},
        GateCase{"NegatedFactor", "divisor-may-be-negative",
                 looping("        x[i] = i / -s;\n", "int i = 0; i < n * s; ++i")},
        GateCase{"BelowZero", "index-may-be-negative",
                 looping("        x[i] = i / m;\n", "int i = n - 4; i < n; ++i")},
        GateCase{"StepBelowZero", "index-may-be-negative",
                 looping("        x[i] = i / m;\n", "int i = 0; i < n; i += t")},
        GateCase{"Unsigned", "index-may-wrap",
                 looping("        x[i] = i / m;\n", "unsigned i = 0; i < m; i += m")},
        GateCase{"Down", "not-counted-up",
                 looping("        x[i] = i / m;\n", "int i = n; i > 0; --i")},
        GateCase{"LimitByIndex", "not-counted-up",
                 looping("        x[i] = i / m;\n", "int i = 0; i < n - i; ++i")},
        GateCase{"Short", "short-loop",
                 looping("        x[i] = i / m;\n", "int i = 0; i < 3; ++i")},
        GateCase{"Continue", "skips-round",
                 looping("        if (x[i])\n            continue;\n        x[i] = i / m;\n")},
        GateCase{"StartCounts", "start-has-effect",
                 looping("        x[i] = i / m;\n", "int i = t++; i < n; ++i")},
        GateCase{"DivisorInMacro", "from-macro", looping("        x[i] = i / WIDTH;\n")},
        GateCase{"Macro", "not-counted-up", looping("        x[i] = ROW(i);\n")},
        GateCase{"OneLine", "several-statements-a-line",
                 "__global__ void k(int* x, int n, unsigned m) {\n    for (int i = 0; i < n; ++i) "
                 "x[i] = i / m;\n}\n"}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
