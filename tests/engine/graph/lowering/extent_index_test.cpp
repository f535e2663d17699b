#include "engine/graph/check/emulated_model.h"
#include "engine/graph/lowering/extent_index.h"
#include "engine/graph/lowering/lowering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine::graph {
namespace {

using ::testing::HasSubstr;

Program programOfSymbols() {
    Program program;
    program.symbols["a"] = {2, 100};
    program.symbols["b"] = {1, {}};
    return program;
}

analysis::raise::Index indexOfText(const std::string& text) {
    const auto expression = parseExtent(text, text);
    EXPECT_TRUE(expression) << expression.error().describe();
    return indexOf(*expression, programOfSymbols());
}

std::string refusal(const std::string& text) {
    try {
        return "is " + indexOfText(text).text();
    } catch (const NotRaised& failure) {
        return failure.reason;
    }
}

/// The expressions have the same value as sympy gives them, for all symbols.
TEST(ExtentIndex, HasTheValueOfTheExpression) {
    for (const char* text :
         {"2*a + 1", "a*b", "(a - 1)//2 + 1", "a//b", "a % 3", "(a - 7) % 4", "a**2 - 2*a",
          "(1/2)*(2*a)", "(2*a)/2 + b", "(1/3)*a + (2/3)*a", "CeilDiv(a, 4)", "CeilToInt(a/4)",
          "min(a, 100)", "max(b, 1) + max(1, a)", "FloorDiv(a*b + 5, 3)", "7"}) {
        const auto expression = parseExtent(text, text);
        ASSERT_TRUE(expression) << expression.error().describe();
        const analysis::raise::Index index = indexOfText(text);
        const auto again = parseExtent(expressionText(index), text);
        ASSERT_TRUE(again) << again.error().describe();
        for (const std::int64_t a : {2, 3, 7, 64, 99})
            for (const std::int64_t b : {1, 2, 5}) {
                const std::map<std::string, std::int64_t> symbols{{"a", a}, {"b", b}};
                const auto wanted = evaluateExtent(*expression, symbols);
                ASSERT_TRUE(wanted) << wanted.error().describe();
                EXPECT_EQ(valueOf(index, symbols), *wanted) << text << ", " << a << ", " << b;
                EXPECT_EQ(evaluateExtent(*again, symbols).value(), *wanted)
                    << expressionText(index);
            }
    }
}

TEST(ExtentIndex, RefusesWhatDependsOnValues) {
    EXPECT_THAT(refusal("min(a, b)"),
                HasSubstr("the extent min(a, b) is one or another by the values"));
    EXPECT_THAT(refusal("a//(b - 1)"), HasSubstr("divided by what may be 0"));
    EXPECT_THAT(refusal("a**b"), HasSubstr("an exponent that is no small number"));
}

} // namespace
} // namespace kernelskill::engine::graph
