#include "engine/graph/extent_expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine::graph {
namespace {

using ::testing::HasSubstr;

std::string plain(std::string_view text) {
    const auto expression = parseExtent(text, "value 'x'");
    return expression ? textOf(*expression) : "error: " + expression.error().what;
}

std::int64_t value(std::string_view text, std::int64_t s0 = 7, std::int64_t s1 = 3) {
    const auto expression = parseExtent(text, "value 'x'");
    EXPECT_TRUE(expression) << expression.error().describe();
    const auto result = evaluateExtent(*expression, {{"s0", s0}, {"s1", s1}});
    EXPECT_TRUE(result) << text << ": " << result.error().describe();
    return result.value_or(-999);
}

std::string whyNoValue(std::string_view text) {
    const auto expression = parseExtent(text, "value 'x'");
    EXPECT_TRUE(expression) << text;
    const auto result = evaluateExtent(*expression, {{"s0", 7}});
    EXPECT_FALSE(result) << text << " = " << *result;
    return result ? std::string() : result.error().what;
}

constexpr std::string_view s0 = "Symbol('s0', positive=True, integer=True)";

TEST(ExtentExpression, ReadsTheTextOfSympy) {
    const std::string s(s0);
    EXPECT_EQ(plain("Symbol('s77', positive=True, integer=True)"), "s77");
    EXPECT_EQ(plain("Add(Integer(1), Mul(Integer(2), " + s + "))"), "2*s0 + 1");
    EXPECT_EQ(plain("Add(Mul(Integer(-1), " + s + "), Integer(-3))"), "-s0 - 3");
    EXPECT_EQ(plain("FloorDiv(Add(" + s + ", Integer(-1)), Integer(2))"), "(s0 - 1)//2");
    EXPECT_EQ(plain("Mul(Rational(1, 2), " + s + ")"), "1/2*s0");
    EXPECT_EQ(plain("Mod(" + s + ", Integer(4))"), "s0 % 4");
    EXPECT_EQ(plain("Max(Integer(1), " + s + ")"), "max(1, s0)");
    EXPECT_EQ(plain("Min(" + s + ", Integer(8), Symbol('s1'))"), "min(s0, 8, s1)");
    EXPECT_EQ(plain("Pow(" + s + ", Integer(2))"), "s0**2");
    EXPECT_EQ(plain("torch.utils._sympy.functions.CeilDiv(" + s + ", Integer(2))"),
              "ceildiv(s0, 2)");
    EXPECT_EQ(plain("ModularIndexing(" + s + ", Integer(2), Integer(3))"), "s0//2 % 3");
    EXPECT_EQ(plain("ceiling(Mul(Rational(1, 2), " + s + "))"), "ceildiv(1/2*s0, 1)");
}

TEST(ExtentExpression, ReadsItsOwnText) {
    for (const char* text :
         {"s0", "2*s0 + 1", "-s0 - 3", "(s0 - 1)//2", "1/2*s0", "s0 % 4", "max(1, s0)", "s0**2",
          "2*(s0 + s1)", "-(s0//2)", "s0 - (s1//2)", "(s0 + 1)*(s1 - 2)", "s0*(s1//2)",
          "(s0 + s1)**2", "s0//(2*s1)", "min(s0 + 1, 2*s1, 5)", "ceildiv(s0, 2)", "(-2)**2"}) {
        EXPECT_EQ(plain(text), text);
        EXPECT_EQ(value(plain(text), 6, 2), value(text, 6, 2)) << text;
    }
}

TEST(ExtentExpression, HasTheValueThatPythonGives) {
    EXPECT_EQ(value("2*s0 + 1"), 15);
    EXPECT_EQ(value("(s0 - 8)//2"), -1);
    EXPECT_EQ(value("-s0//2"), -4);
    EXPECT_EQ(value("-(s0//2)"), -3);
    EXPECT_EQ(value("-s0 % 4"), 1);
    EXPECT_EQ(value("s0 - 2 - 1"), 4);
    EXPECT_EQ(value("2 - s0 - 1 + s1"), -3);
    EXPECT_EQ(value("s0//2//2"), 1);
    EXPECT_EQ(value("-s0**2"), -49);
    EXPECT_EQ(value("max(s0, s1, 9)"), 9);
    EXPECT_EQ(value("ceildiv(s0, 2)"), 4);
    EXPECT_EQ(value("ceildiv(-s0, 2)"), -3);
    // Exact though a part of it is no integer.
    EXPECT_EQ(value("Add(Rational(1, 2), Mul(Rational(1, 2), " + std::string(s0) + "))"), 4);
    EXPECT_EQ(value("Mul(" + std::string(s0) + ", Pow(Integer(7), Integer(-1)))"), 1);
    EXPECT_EQ(value("9223372036854775807"), 9223372036854775807);
}

TEST(ExtentExpression, IsEvaluatedInAProgramsExtents) {
    EXPECT_EQ(evaluateExtent(Extent{7, "2*s77 + 1"}, {{"s77", 20}}), 41);
    EXPECT_EQ(evaluateExtent(Extent{7, {}}, {}), 7);
    EXPECT_FALSE(evaluateExtent(Extent{7, "s77"}, {}));
}

TEST(ExtentExpression, HasNoValueThatDoesNotFit) {
    EXPECT_THAT(whyNoValue("s1 + 1"), HasSubstr("'s1' has no value"));
    EXPECT_THAT(whyNoValue("s0/2"), HasSubstr("7/2"));
    EXPECT_THAT(whyNoValue("s0//(s0 - 7)"), HasSubstr("divisor"));
    EXPECT_THAT(whyNoValue("s0 % 0"), HasSubstr("divisor"));
    EXPECT_THAT(whyNoValue("4611686018427387904 * s0"), HasSubstr("63 bits"));
    EXPECT_THAT(whyNoValue("9223372036854775807 + 1"), HasSubstr("63 bits"));
    EXPECT_THAT(whyNoValue("s0**64"), HasSubstr("63 bits"));
    EXPECT_THAT(whyNoValue("s0**65"), HasSubstr("exponent"));
    EXPECT_THAT(whyNoValue("s0**(1/2)"), HasSubstr("exponent"));
}

TEST(ExtentExpression, NamesWhatItDoesNotRead) {
    EXPECT_THAT(plain("Piecewise(s0)"), HasSubstr("'Piecewise'"));
    EXPECT_THAT(plain("Mod(s0)"), HasSubstr("gives 'Mod' 1 operands"));
    for (const char* text : {"", "s0 +", "(s0", "s0)", "2 s0", "Symbol(s0)", "Symbol('s0'", "a.b",
                             "Integer()", "*", "s0 ** ", "9223372036854775808", "Symbol('')"})
        EXPECT_THAT(plain(text), HasSubstr("error: ")) << text;
    const auto expression = parseExtent("Where(s0)", "value 'x'");
    ASSERT_FALSE(expression);
    EXPECT_EQ(expression.error().kind, ErrorKind::InvalidInput);
    EXPECT_EQ(expression.error().where, "value 'x'");
}

TEST(ExtentExpression, IsBounded) {
    EXPECT_THAT(plain(std::string(5000, '1')), HasSubstr("more than 4096 bytes"));
    EXPECT_THAT(plain(std::string(1000, '(')), HasSubstr("levels deep"));
    EXPECT_THAT(plain("s0" + std::string(3000, '+')), HasSubstr("error: "));
    std::string chain = "s0";
    for (int i = 0; i < 600; ++i)
        chain += "//2";
    EXPECT_THAT(plain(chain), HasSubstr("more than 512 operators"));
    std::string nested;
    for (int i = 0; i < 100; ++i)
        nested += "Add(s0,";
    EXPECT_THAT(plain(nested), HasSubstr("levels deep"));
    EXPECT_EQ(plain(std::string(1001, '-') + "s0"), "-s0");
}

} // namespace
} // namespace kernelskill::engine::graph
