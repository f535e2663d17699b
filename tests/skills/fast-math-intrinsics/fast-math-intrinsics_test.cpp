#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "fast-math-intrinsics";

/// `work` once a round in a loop that reads nothing.
std::string computing(const std::string& work) {
    return "__device__ double scale;\n__global__ void k(float* out, float a, float b, double d, "
           "int "
           "n) {\n    float x = a, y = b;\n    for (int i = 0; i < n; ++i) {\n        " +
           work + "\n    }\n    out[threadIdx.x] = x + y;\n}\n";
}

struct Form {
    std::string name;
    std::string before;
    std::string after;
};

class FastMathReplaces : public testing::TestWithParam<Form> {};

TEST_P(FastMathReplaces, WhatPeopleWrite) {
    checkApplicable(id, computing(GetParam().before), computing(GetParam().after));
}

INSTANTIATE_TEST_SUITE_P(
    Forms, FastMathReplaces,
    testing::Values(
        Form{"Exponential", "x = expf(y);", "x = __expf(y);"},
        Form{"Overload", "x = exp(y) + std::exp(x);", "x = __expf(y) + __expf(x);"},
        Form{"BesideAnIntegersBreak", "if (i > 5) break; x = expf(y);",
             "if (i > 5) break; x = __expf(y);"},
        Form{"BesideABreakOfASwitch",
             "switch (n) { case 1: if (x > y) break; x += 1.0f; } x = expf(y);",
             "switch (n) { case 1: if (x > y) break; x += 1.0f; } x = __expf(y);"},
        Form{"Logarithms", "x = logf(y) + log2f(x) + log10f(y);",
             "x = __logf(y) + __log2f(x) + __log10f(y);"},
        Form{"Sines", "x = sinf(y) * cosf(x);", "x = __sinf(y) * __cosf(x);"},
        Form{"Quotient", "x = (x + 1.0f) / (y - b);", "x = __fdividef((x + 1.0f), (y - b));"},
        Form{"QuotientOfQuotients", "x = x / y / b;", "x = __fdividef(__fdividef(x, y), b);"},
        Form{"Nested", "x = expf(x / y) / logf(y);",
             "x = __fdividef(__expf(__fdividef(x, y)), __logf(y));"},
        Form{"QuotientByInteger", "x = y / n;", "x = __fdividef(y, n);"},
        Form{"CommentBetween", "x = y /* per */ / b;", "x = __fdividef(y /* per */, b);"},
        Form{"ReciprocalRoot", "x = 1.0f / sqrtf(y + 1.0f);", "x = rsqrtf(y + 1.0f);"},
        Form{"ReciprocalRootOfOne", "x = 1 / sqrtf(y);", "x = rsqrtf(y);"},
        Form{"ReciprocalRootInDouble", "x = 1.0 / sqrtf(y);", "x = rsqrtf(y);"},
        Form{"OverRoot", "x = a / sqrtf(y);", "x = a * rsqrtf(y);"},
        Form{"Tangent", "x = tanhf(y * b);",
             "x = (1.0f - __fdividef(2.0f, __expf(2.0f * (y * b)) + 1.0f));"},
        Form{"Square", "x = powf(y, 2.0f) + powf(x, 2);", "x = (y * y) + (x * x);"},
        Form{"Cube", "x = -powf(y, 3);", "x = -(y * y * y);"},
        Form{"Literals", "x = 0.5 * (y + 0.1);", "x = 0.5f * (y + 0.1f);"},
        Form{"LiteralInDeclaration", "float z = 2. * y; x += z;", "float z = 2.f * y; x += z;"},
        Form{"LiteralOfUpdate", "x *= 0.25;", "x *= 0.25f;"}),
    [](const auto& info) { return info.param.name; });

TEST(FastMathIntrinsics, ReplacesOnlyWhatTheCursorIsOn) {
    EXPECT_TRUE(appliedText(id, computing("x = exp$0f(y); y = logf(x);"))
                    .contains("x = __expf(y); y = logf(x);"));
}

TEST(FastMathIntrinsics, SaysWhatBecomesOfTheResults) {
    EXPECT_EQ(offeredNumerics(id, computing("x = expf(y);")), Numerics::ReducedPrecision);
    EXPECT_EQ(offeredNumerics(id, computing("x = 0.5 * y;")), Numerics::Exact);
    EXPECT_EQ(offeredNumerics(id, computing("x = 0.1 * y;")), Numerics::ReducedPrecision);
    EXPECT_EQ(offeredNumerics(id, computing("x = 0.5 * y + 1.0;")), Numerics::ReducedPrecision);
}

TEST(FastMathIntrinsics, StatesTheErrorsOfWhatItBringsIn) {
    EXPECT_EQ(offeredError(id, computing("x = expf(y);")), *documentedError("__expf"));
    EXPECT_EQ(offeredError(id, computing("x = 0.5 * y;")), StatedError{});
    StatedError both = *documentedError("__expf");
    both += *documentedError("__fdividef");
    EXPECT_EQ(offeredError(id, computing("x = expf(x / y);")), both);
    EXPECT_GT(offeredError(id, computing("x = tanhf(y);")).absolute, 0);
}

TEST(FastMathIntrinsics, CountsWhatItSaves) {
    const Subject subject = parseSubject(computing("x = logf(y);"));
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    ASSERT_TRUE(offer->gain);
    // 27 of the logarithm, the assignment, the comparison and the step; 23 fewer.
    EXPECT_DOUBLE_EQ(offer->gain->factor, 30.0 / 7.0) << offer->gain->basis;
}

class FastMathIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(FastMathIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, FastMathIsNotOffered,
    testing::Values(
        GateCase{"Nothing", "nothing-to-replace", computing("x += y * 2.0f;")},
        GateCase{"Double", "nothing-to-replace", computing("d = exp(d) / (d + 1.0); x = d;")},
        GateCase{"ConstantDivisor", "nothing-to-replace", computing("x = y / 3.0f;")},
        GateCase{"IntegerQuotient", "nothing-to-replace", computing("n = n / (i + 1); x = n;")},
        GateCase{"OtherPower", "nothing-to-replace", computing("x = powf(y, b);")},
        GateCase{"PowerOfAnExpression", "nothing-to-replace",
                 computing("x = powf(y + 1.0f, 2.0f);")},
        GateCase{"LiteralBesideDouble", "nothing-to-replace", computing("x = 0.5 * d;")},
        GateCase{"LiteralForDouble", "nothing-to-replace", computing("d = 0.5 * y; x = d;")},
        GateCase{"Initialiser", "nothing-to-replace", computing("float z = 0.1; x += z;")},
        GateCase{"Comparison", "nothing-to-replace", computing("if (x > 0.1) x += y;")},
        GateCase{"Already", "nothing-to-replace", computing("x = __expf(y);")},
        GateCase{"Macro", "nothing-to-replace", "#define E(x) expf(x)\n" + computing("x = E(y);")},
        GateCase{"FloatsEndALoop", "floats-end-a-loop",
                 computing("while (x < 4.0f) x += expf(y);")},
        GateCase{"FloatsLeaveALoop", "floats-end-a-loop",
                 computing("x += expf(y); if (x > 4.0f) break;")},
        GateCase{"FloatsReturnFromALoop", "floats-end-a-loop",
                 computing("x += expf(y); if (n > 3 && x > 4.0f) { out[0] = x; return; }")},
        GateCase{"AFlagOfFloatsLeavesALoop", "floats-end-a-loop",
                 computing("int far = 0; for (int j = 0; j < 3; ++j) { if (expf(y) > x) far = 1; } "
                           "if (far == 0) break;")},
        GateCase{"AComparisonInAFlagLeavesALoop", "floats-end-a-loop",
                 computing("const bool far = expf(y) > x; if (far) break;")},
        GateCase{"AFlagOfFloatsEndsALoop", "floats-end-a-loop",
                 computing("int far = 0; while (far == 0) { if (expf(y) > x) far = 1; }")},
        GateCase{"CastToInteger", "floats-become-integers",
                 computing("x = static_cast<int>(expf(y));")},
        GateCase{"RoundedToInteger", "floats-become-integers",
                 computing("x += expf(y); n -= __float2int_rn(x);")},
        GateCase{"AssignedToInteger", "floats-become-integers", computing("x = expf(y); n = x;")},
        GateCase{"InitialisesAnInteger", "floats-become-integers",
                 computing("long whole = x / y; x += whole;")},
        GateCase{"MemoryDecides", "memory-decides", R"(
__global__ void k(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] / b[i];
}
)"}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
