#include "analysis/command/shell_words.h"

#include <gtest/gtest.h>

namespace kernelskill::analysis {
namespace {

using Words = std::vector<std::string>;

TEST(ShellWords, QuotesGroup) {
    EXPECT_EQ(splitShellWords("a 'b c' \"d e\" f\\ g"), (Words{"a", "b c", "d e", "f g"}));
}

TEST(ShellWords, BackslashInsideDoubleQuotesKeepsOrdinaryCharacters) {
    EXPECT_EQ(splitShellWords(R"("-DS=\"x\"" "a\b")"), (Words{"-DS=\"x\"", "a\\b"}));
}

TEST(ShellWords, EmptyQuotesAreAWord) {
    EXPECT_EQ(splitShellWords("a '' b"), (Words{"a", "", "b"}));
}

TEST(ShellWords, ListsSplitAtCommasOutsideQuotes) {
    EXPECT_EQ(splitOptionList("-O3,\"-DX=1,2\",-g"), (Words{"-O3", "-DX=1,2", "-g"}));
    EXPECT_EQ(splitOptionList("a\\,b,c"), (Words{"a,b", "c"}));
}

} // namespace
} // namespace kernelskill::analysis
