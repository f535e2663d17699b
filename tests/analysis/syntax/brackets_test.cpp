#include "analysis/syntax/brackets.h"

#include <gtest/gtest.h>

namespace kernelskill::analysis {
namespace {

TEST(Brackets, KnowPairsAndWhatIsAroundAToken) {
    const auto tokens = lex("f(a[1], {b})"); // f ( a [ 1 ] , { b } )
    const Brackets brackets(tokens);
    EXPECT_EQ(brackets.partnerOf(1), 10u);
    EXPECT_EQ(brackets.partnerOf(10), 1u);
    EXPECT_EQ(brackets.partnerOf(3), 5u);
    EXPECT_EQ(brackets.partnerOf(2), std::nullopt);
    EXPECT_EQ(brackets.around(0), std::nullopt);
    EXPECT_EQ(brackets.around(1), std::nullopt);
    EXPECT_EQ(brackets.around(2), 1u);
    EXPECT_EQ(brackets.around(4), 3u);
    EXPECT_EQ(brackets.around(5), 1u);
    EXPECT_EQ(brackets.around(8), 7u);
    EXPECT_EQ(brackets.around(10), std::nullopt);
    EXPECT_EQ(brackets.around(11), std::nullopt) << "behind the text";
}

TEST(Brackets, BearAnUnbalancedText) {
    const Brackets brackets(lex(") { a ( b"));
    EXPECT_EQ(brackets.partnerOf(0), std::nullopt);
    EXPECT_EQ(brackets.partnerOf(1), std::nullopt);
    EXPECT_EQ(brackets.around(2), 1u);
    EXPECT_EQ(brackets.around(4), 3u);
    EXPECT_EQ(Brackets().partnerOf(0), std::nullopt);
}

} // namespace
} // namespace kernelskill::analysis
