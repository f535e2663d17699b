#include "analysis/model/index_expression.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace kernelskill::analysis {
namespace {

constexpr std::array<Symbol, 4> symbols = {{{SymbolKind::ThreadIdx, 0},
                                            {SymbolKind::BlockIdx, 0},
                                            {SymbolKind::BlockDim, 0},
                                            {SymbolKind::Parameter, 2}}};

const Symbol tid = symbols[0];

/// A random expression, built as a polynomial and computed directly side by side.
struct Pair {
    IndexExpression polynomial;
    std::int64_t value;
};

Pair randomPair(std::mt19937& random, const std::map<Symbol, std::int64_t>& values, int depth) {
    const auto pick = [&](int limit) {
        return std::uniform_int_distribution<int>(0, limit - 1)(random);
    };
    if (depth == 0 || pick(4) == 0) {
        if (pick(2) == 0) {
            const int constant = pick(21) - 10;
            return {IndexExpression::constant(constant), constant};
        }
        const Symbol symbol = symbols.at(static_cast<std::size_t>(pick(4)));
        return {IndexExpression::symbol(symbol), values.at(symbol)};
    }
    const Pair a = randomPair(random, values, depth - 1);
    const Pair b = randomPair(random, values, depth - 1);
    switch (pick(3)) {
    case 0:
        return {a.polynomial + b.polynomial, a.value + b.value};
    case 1:
        return {a.polynomial - b.polynomial, a.value - b.value};
    default:
        return {a.polynomial * b.polynomial, a.value * b.value};
    }
}

TEST(IndexExpression, EvaluatesToWhatDirectArithmeticGives) {
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        std::map<Symbol, std::int64_t> values;
        for (const Symbol symbol : symbols)
            values[symbol] = std::uniform_int_distribution<int>(-9, 9)(random);
        const Pair pair = randomPair(random, values, 3);
        ASSERT_EQ(pair.polynomial.evaluate(values), pair.value);
        // Splitting off a symbol that occurs at most once and putting it back changes nothing.
        if (const auto coefficient = pair.polynomial.coefficientOf(tid)) {
            const IndexExpression rest =
                pair.polynomial - *coefficient * IndexExpression::symbol(tid);
            EXPECT_FALSE(rest.dependsOn(tid));
        }
    }
}

TEST(IndexExpression, DoesNotStoreZeroTerms) {
    const IndexExpression x = IndexExpression::symbol(tid);
    EXPECT_TRUE((x - x).terms().empty());
    EXPECT_EQ((x - x).asConstant(), 0);
    EXPECT_EQ(IndexExpression::constant(0) * x, IndexExpression{});
}

TEST(IndexExpression, CoefficientOfASquareIsNotTold) {
    const IndexExpression x = IndexExpression::symbol(tid);
    EXPECT_EQ((x * x).coefficientOf(tid), std::nullopt);
    EXPECT_EQ((x * IndexExpression::constant(3)).coefficientOf(tid), IndexExpression::constant(3));
}

TEST(IndexExpression, AMissingValueGivesNone) {
    EXPECT_EQ(IndexExpression::symbol(tid).evaluate({}), std::nullopt);
}

TEST(IndexExpression, DescribesItselfAsPeopleWriteIt) {
    FunctionBody body;
    body.variables.resize(3);
    body.variables[2].name = "n";
    const auto value = [](Symbol symbol) { return IndexExpression::symbol(symbol); };
    const IndexExpression index = value(symbols[1]) * value(symbols[2]) + value(tid) +
                                  IndexExpression::constant(4) - value(symbols[3]);
    EXPECT_EQ(index.describe(body), "threadIdx.x + blockIdx.x*blockDim.x - n + 4");
    EXPECT_EQ(IndexExpression{}.describe(body), "0");
}

TEST(IndexExpression, KnowsWhetherItHoldsAnOpaqueValue) {
    EXPECT_TRUE(IndexExpression::symbol({SymbolKind::Opaque, 1}).hasOpaque());
    EXPECT_FALSE(IndexExpression::symbol(tid).hasOpaque());
}

} // namespace
} // namespace kernelskill::analysis
