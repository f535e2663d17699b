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

TEST(Lexer, JoinsLaunchBracketsThatWhiteSpaceBreaks) {
    EXPECT_EQ(tokenText("k << < g, b >> > (a);"), tokenText("k<<<g, b>>>(a);"));
    EXPECT_EQ(tokenText("k<float> <<  < g, b >>  >(a);"), tokenText("k<float><<<g, b>>>(a);"));
    EXPECT_EQ(tokenText("a << b; A<B<C<int>> > (x);"), "a << b ; A < B < C < int > > > ( x ) ; ");
    EXPECT_EQ(tokenText("k << < g, A<B<C>> > ;  A<B<C<int>> > (x);"),
              "k <<< g , A < B < C > > > ; A < B < C < int > > > ( x ) ; ")
        << "no launch is open behind a semicolon";
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

TEST(Lexer, KeepsTemplateBracketsApartFromLaunchBrackets) {
    EXPECT_EQ(texts("k<T><<<g,b>>>(x);"),
              (Texts{"k", "<", "T", ">", "<<<", "g", ",", "b", ">>>", "(", "x", ")", ";"}));
}

TEST(Lexer, SeesNoBracesInStringsCharactersAndComments) {
    EXPECT_EQ(texts("f(\"}{\", '{', /* } */ 1); // {"),
              (Texts{"f", "(", "\"}{\"", ",", "'{'", ",", "1", ")", ";"}));
}

TEST(Lexer, TakesARawStringWholeWhateverItHolds) {
    EXPECT_EQ(texts("x = R\"ptx( \" ) } )ptx\";"), (Texts{"x", "=", "R\"ptx( \" ) } )ptx\"", ";"}));
}

TEST(Lexer, ContinuesADirectiveBehindEitherLineEnd) {
    EXPECT_EQ(texts("#define A(x) \\\r\n  { x }\r\nint a;"),
              (Texts{"#define A(x) \\\r\n  { x }", "int", "a", ";"}));
}

TEST(Lexer, ContinuesADirectiveBehindACommentOfSeveralLines) {
    EXPECT_EQ(texts("#define A 1 /* one\n two */\nint a;"),
              (Texts{"#define A 1 /* one\n two */", "int", "a", ";"}));
}

TEST(Lexer, EndsADirectiveBeforeALineComment) {
    EXPECT_EQ(texts("#define A 1 // one\nint a;"), (Texts{"#define A 1 ", "int", "a", ";"}));
    EXPECT_EQ(texts("#define A \"a//b\" // one\\\ntwo\nint a;"),
              (Texts{"#define A \"a//b\" ", "int", "a", ";"}));
    EXPECT_EQ(texts("#error don't // do it\nint a;"), (Texts{"#error don't ", "int", "a", ";"}));
}

TEST(Lexer, BeginsADirectiveOnlyWhereALineBegins) {
    EXPECT_EQ(texts("/* a */ # define A\nb # c \\\n# d /*\n*/ # e"),
              (Texts{"# define A", "b", "#", "c", "#", "d", "#", "e"}));
}

TEST(Lexer, EndsAnUnterminatedStringWithItsLine) {
    EXPECT_EQ(texts("\"open\nint a;"), (Texts{"\"open", "int", "a", ";"}));
    EXPECT_EQ(texts("\"open\r\nint a;"), (Texts{"\"open", "int", "a", ";"}));
    EXPECT_EQ(texts("\"go\\\r\non\" a"), (Texts{"\"go\\\r\non\"", "a"}));
}

TEST(Lexer, KeepsExponentsSeparatorsAndSuffixesOfNumbers) {
    EXPECT_EQ(texts("1e-5f 0x1F+1 1'000u .5"), (Texts{"1e-5f", "0x1F", "+", "1", "1'000u", ".5"}));
}

TEST(Lexer, ContinuesALineCommentBehindABackslash) {
    EXPECT_EQ(texts("a // b \\\n c\nd"), (Texts{"a", "d"}));
}

TEST(Lexer, TellsAShiftFromTwoClosingAngles) {
    const std::vector<Token> tokens = lex("a >> b > > c");
    EXPECT_TRUE(isShiftRight(tokens, 1));
    EXPECT_FALSE(isShiftRight(tokens, 2));
    EXPECT_FALSE(isShiftRight(tokens, 4));
}

TEST(Lexer, MatchesNoAngleToAComparison) {
    const std::vector<Token> comparison = lex("a < b && c > d");
    EXPECT_EQ(matchingAngle(comparison, 1), 1U);
    const std::vector<Token> list = lex("f<g<int>, (1 > 0)>(x)");
    EXPECT_EQ(list[matchingAngle(list, 1)].span.begin, 17U);
}

TEST(Lexer, MatchesNestedAngles) {
    const std::vector<Token> tokens = lex("f<g<int>>(x)");
    EXPECT_EQ(matchingAngle(tokens, 1), 6U);
    EXPECT_EQ(matchingAngle(tokens, 3), 5U);
    EXPECT_EQ(openingAngle(tokens, 6), 1U);
    EXPECT_EQ(openingAngle(tokens, 5), 3U);
    EXPECT_EQ(openingAngle(lex("a > b"), 1), 0U);
}

TEST(Lexer, FindsCommentsOutsideOfStrings) {
    const std::vector<Comment> comments =
        findComments("\"// no\" // yes\n/* and */\n#define A 1 // too");
    ASSERT_EQ(comments.size(), 3U);
    EXPECT_EQ(comments[0].text, "// yes");
    EXPECT_EQ(comments[1].text, "/* and */");
    EXPECT_EQ(comments[2].text, "// too");
}

} // namespace
} // namespace kernelskill::analysis
