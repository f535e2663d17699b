#include "engine/whole_program/printed_output.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

std::string difference(std::string_view original, std::string_view edited) {
    return PrintedOutput(original).differenceTo(edited).value_or("");
}

TEST(PrintedOutput, ComparesWordsAndNumbers) {
    EXPECT_EQ(difference("sum 4\nPASSED\n", "sum 4\nPASSED\n"), "");
    EXPECT_EQ(difference("sum 4\n", "sum 5\n"), "line 1 is 'sum 5' instead of 'sum 4'");
    EXPECT_EQ(difference("a\nPASSED\n", "a\nFAILED\n"), "line 2 is 'FAILED' instead of 'PASSED'");
    EXPECT_EQ(difference("a\nb\n", "a\n"), "it prints 1 lines instead of 2");
    EXPECT_EQ(difference("a", "ab"), "line 1 is 'ab' instead of 'a'");
    EXPECT_NE(difference("x=1.5", "y=1.5"), "");
}

TEST(PrintedOutput, TheAmountOfWhiteSpaceDoesNotCount) {
    const PrintedOutput table("test    mean      max\nsum 1 2  ");
    EXPECT_EQ(table.differenceTo("test   mean     max  \n  sum 1  2"), std::nullopt);
    EXPECT_NE(table.differenceTo("test   meanmax\nsum 1 2"), std::nullopt);
    EXPECT_NE(table.differenceTo("test   mean max\nsum 12"), std::nullopt);
    EXPECT_NE(table.differenceTo("test   mean max\nsum 1 2 3"), std::nullopt);
    EXPECT_NE(table.differenceTo("test   mean max\nsum 1"), std::nullopt);
}

TEST(PrintedOutput, ShowsWhereLongLinesDiffer) {
    const std::string same(200, '-');
    const std::string before = "..." + std::string(36, '-');
    EXPECT_EQ(difference(same + "sum 4", same + "sum 5"),
              "line 1 is '" + before + "sum 5' instead of '" + before + "sum 4'");
    EXPECT_EQ(difference(same, "x"), "line 1 is 'x' instead of '" + std::string(80, '-') + "...'");
}

TEST(PrintedOutput, FractionsMayDifferByRounding) {
    EXPECT_EQ(difference("mean=-1000.0 (1.5e+3)", "mean=-1000.5 (1.5004E3)"), "");
    EXPECT_NE(difference("mean 1000.0", "mean 1002.0"), "");
    EXPECT_NE(difference("mean 1.0", "mean -1.0"), "") << "signs are words";
    EXPECT_EQ(difference("error 1e-7", "error 4e-8"), "") << "what is left of a result";
    EXPECT_NE(difference("count 100000", "count 100001"), "") << "integers are exact";
    EXPECT_NE(difference("value 1.0", "value nan"), "");
    EXPECT_NE(difference("v1.2.3", "v1.2.4"), "");
}

TEST(PrintedOutput, LeavesOutLinesThatDifferBetweenRunsOfTheOriginal) {
    PrintedOutput output("sum 4\ntime 12 ms\n");
    output.add("sum 4\ntime 13 ms\n");
    EXPECT_TRUE(output.isComparable());
    EXPECT_EQ(output.note(),
              "1 of 2 lines differ between runs of the original and are not compared");
    EXPECT_FALSE(output.differenceTo("sum 4\ntime 99 ms\n"));
    EXPECT_TRUE(output.differenceTo("sum 5\ntime 12 ms\n"));
    EXPECT_TRUE(output.differenceTo("sum 4\n"));
}

TEST(PrintedOutput, SaysWhatIsNotComparable) {
    PrintedOutput longer("a\n");
    longer.add("a\nb\n");
    EXPECT_FALSE(longer.isComparable());
    EXPECT_NE(longer.note(), "");
    EXPECT_FALSE(longer.differenceTo("anything"));
    PrintedOutput other("seed 1\n");
    other.add("seed 2\n");
    EXPECT_FALSE(other.isComparable());
    const PrintedOutput nothing("");
    EXPECT_FALSE(nothing.isComparable());
    EXPECT_EQ(nothing.note(), "the program prints nothing");
    EXPECT_EQ(PrintedOutput("a\n").note(), "");
}

} // namespace
} // namespace kernelskill::engine
