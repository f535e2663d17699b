#include "analysis/scan/expression.h"

#include <gtest/gtest.h>

#include <limits>

namespace kernelskill::analysis {
namespace {

struct Fixed : Names {
    std::optional<Value> name(const std::string& name) const override {
        return name == "n" ? std::optional(Value::of(std::int64_t{1000})) : std::nullopt;
    }
    std::optional<Value> member(const Expression&, const std::string& member) const override {
        return member == "x" ? std::optional(Value::of(std::int64_t{16})) : std::nullopt;
    }
    std::optional<Value> call(const Expression&) const override { return std::nullopt; }
    std::optional<std::int64_t> sizeOf(const std::string& type) const override {
        return sizeOfBuiltin(type);
    }
    bool takesKnownBranch() const override { return true; }
};

struct Strict : Fixed {
    bool takesKnownBranch() const override { return false; }
};

struct Case {
    std::string_view text;
    double value;
};

TEST(Value, ofANumberBeyondAllIntegersIsTheNearestOne) {
    EXPECT_EQ(Value::of(1e300).asInteger(), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(Value::of(-1e300).asInteger(), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(Value::of(std::numeric_limits<double>::quiet_NaN()).asInteger(), 0);
    EXPECT_EQ(Value::of(-2.5).asInteger(), -2);
}

class EvaluatedExpression : public ::testing::TestWithParam<Case> {};

TEST_P(EvaluatedExpression, hasItsValue) {
    const auto expression = parseExpression(GetParam().text);
    ASSERT_TRUE(expression) << GetParam().text;
    const auto value = evaluate(*expression, Fixed{});
    ASSERT_TRUE(value) << GetParam().text;
    EXPECT_DOUBLE_EQ(value->asDouble(), GetParam().value) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Expressions, EvaluatedExpression,
    ::testing::Values(Case{"(n + 255) / 256", 4}, Case{"1 << 20", 1048576},
                      Case{"n / 3.0", 1000 / 3.0}, Case{"ceil((float)n / 256)", 4},
                      Case{"static_cast<int>(ceil(n / 256.0f))", 4}, Case{"std::min(n, 256)", 256},
                      Case{"max(1, n - 1) % 7", 5}, Case{"sizeof(float) * n", 4000},
                      Case{"sizeof(unsigned long long)", 8},
                      Case{"sizeof(float4) + sizeof(double2) + sizeof(int*)", 40},
                      Case{"n > 10 ? 1 : 2", 1}, Case{"block.x * grid->x", 256},
                      Case{"-(-3) + ~0", 2}, Case{"0x10 + 010 + 0b11", 27}, Case{"1e3f", 1000},
                      Case{"1'000u", 1000}, Case{"2 + 3 * 4 - 1", 13}, Case{"!n || 1 && 0", 0},
                      Case{"unknown(3) ? 5 : 6", 6}, Case{"(size_t)n * 2", 2000},
                      Case{"int(7.9)", 7}, Case{"(n) - 1", 999}));

TEST(Expression, whatCannotBeKnownHasNoValue) {
    for (const auto* text : {"unknown", "n / 0", "f(n)", "1 << 70", "\"text\"", "a[3]"}) {
        const auto expression = parseExpression(text);
        ASSERT_TRUE(expression) << text;
        EXPECT_FALSE(evaluate(*expression, Fixed{})) << text;
    }
}

TEST(Expression, aBranchIsTakenForAnotherOnlyWhereNamesAllowIt) {
    const auto expression = parseExpression("unknown(3) ? 5 : 6");
    ASSERT_TRUE(expression);
    EXPECT_TRUE(evaluate(*expression, Fixed{}));
    EXPECT_FALSE(evaluate(*expression, Strict{}));
}

TEST(Expression, aShiftIsToldFromAClosedList) {
    const auto shift = parseExpression("n >> 3");
    ASSERT_TRUE(shift);
    EXPECT_EQ(evaluate(*shift, Fixed{})->integer, 125);
    EXPECT_TRUE(parseExpression("f<g<int>>(n) >> 1"));
    EXPECT_FALSE(parseExpression("n > > 3"));
}

TEST(Expression, whatIsNoExpressionIsRefused) {
    for (const auto* text : {"", "1 +", "(1", "n n", "? :", "1 2"})
        EXPECT_FALSE(parseExpression(text)) << text;
    EXPECT_FALSE(parseExpression(std::string(100'000, '(')));
    EXPECT_FALSE(parseExpression(std::string(100'000, '-')));
}

} // namespace
} // namespace kernelskill::analysis
