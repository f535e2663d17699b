#include "analysis/syntax/lexer.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelskill::analysis {
namespace {

std::vector<std::string> texts(std::string_view source) {
    std::vector<std::string> result;
    for (const Token& token : lex(source))
        result.emplace_back(token.text);
    return result;
}

using Texts = std::vector<std::string>;

TEST(Lexer, DropsCommentsAndWhiteSpace) {
    EXPECT_EQ(texts("a /* b */ c // d\ne"), (Texts{"a", "c", "e"}));
}

TEST(Lexer, KeepsLaunchBracketsTogether) {
    EXPECT_EQ(texts("k<<<g, b>>>(x)"), (Texts{"k", "<<<", "g", ",", "b", ">>>", "(", "x", ")"}));
}

TEST(Lexer, TakesRawStringsWhole) {
    EXPECT_EQ(texts("f(R\"x(a)\" )x\");"), (Texts{"f", "(", "R\"x(a)\" )x\"", ")", ";"}));
}

TEST(Lexer, TakesDirectivesWholeWithContinuationLines) {
    EXPECT_EQ(texts("#define A \\\n 1\nint x;"), (Texts{"#define A \\\n 1", "int", "x", ";"}));
}

TEST(Lexer, ReadsExponentsAndSeparators) {
    EXPECT_EQ(texts("1e-5f 0x1p-3 1'000 0xEu+1"),
              (Texts{"1e-5f", "0x1p-3", "1'000", "0xEu", "+", "1"}));
}

TEST(Lexer, EndsUnterminatedLiteralsWithTheLine) {
    EXPECT_EQ(texts("\"open\nnext"), (Texts{"\"open", "next"}));
}

TEST(Lexer, MatchesNestedBrackets) {
    const std::vector<Token> tokens = lex("(a[(b)], {c})d");
    EXPECT_EQ(tokens[matchingBracket(tokens, 0) + 1].text, "d");
    EXPECT_EQ(matchingBracket(lex("(a"), 0), 2U);
}

} // namespace
} // namespace kernelskill::analysis
