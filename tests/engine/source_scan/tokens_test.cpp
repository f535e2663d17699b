#include "engine/source_scan/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> spellings(std::string_view text) {
    std::vector<std::string> result;
    for (const auto& token : tokenize(text))
        result.emplace_back(token.text);
    return result;
}

TEST(Tokens, aLaunchKeepsItsBracketsTogether) {
    EXPECT_THAT(spellings("k<T><<<g,b>>>(x);"),
                ElementsAre("k", "<", "T", ">", "<<<", "g", ",", "b", ">>>", "(", "x", ")", ";"));
}

TEST(Tokens, bracesInStringsCharactersAndCommentsAreNotBraces) {
    EXPECT_THAT(spellings("f(\"}{\", '{', /* } */ 1); // {"),
                ElementsAre("f", "(", "\"}{\"", ",", "'{'", ",", "1", ")", ";"));
}

TEST(Tokens, aRawStringIsOneTokenWhateverItHolds) {
    EXPECT_THAT(spellings("x = R\"ptx( \" ) } )ptx\";"),
                ElementsAre("x", "=", "R\"ptx( \" ) } )ptx\"", ";"));
}

TEST(Tokens, aDirectiveSpansItsContinuationsWithEitherLineEnd) {
    EXPECT_THAT(spellings("#define A(x) \\\r\n  { x }\r\nint a;"),
                ElementsAre("#define A(x) \\\r\n  { x }", "int", "a", ";"));
}

TEST(Tokens, aCommentMayFollowADirectiveOverSeveralLines) {
    EXPECT_THAT(spellings("#define A 1 /* one\n two */\nint a;"),
                ElementsAre("#define A 1 /* one\n two */", "int", "a", ";"));
}

TEST(Tokens, anUnterminatedStringEndsWithItsLine) {
    EXPECT_THAT(spellings("\"open\nint a;"), ElementsAre("\"open", "int", "a", ";"));
}

TEST(Tokens, numbersKeepExponentsSeparatorsAndSuffixes) {
    EXPECT_THAT(spellings("1e-5f 0x1F+1 1'000u .5"),
                ElementsAre("1e-5f", "0x1F", "+", "1", "1'000u", ".5"));
}

TEST(Tokens, anAngleThatIsAComparisonMatchesNothing) {
    const auto comparison = tokenize("a < b && c > d");
    EXPECT_EQ(matchingAngle(comparison, 1), 1u);
    const auto list = tokenize("f<g<int>, (1 > 0)>(x)");
    EXPECT_EQ(list[matchingAngle(list, 1)].span.begin, 17u);
}

TEST(Tokens, commentsAreFoundOutsideStrings) {
    const auto comments = findComments("\"// no\" // yes\n/* and */");
    ASSERT_EQ(comments.size(), 2u);
    EXPECT_EQ(comments[0].text, "// yes");
    EXPECT_EQ(comments[1].text, "/* and */");
}

} // namespace
} // namespace kernelskill::engine
