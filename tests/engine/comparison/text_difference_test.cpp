#include "engine/comparison/text_difference.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine {
namespace {

std::string applied(std::string_view before, std::string_view after) {
    auto result = analysis::applyEdits(before, textDifference(before, after));
    return result ? *result : result.error().describe();
}

TEST(TextDifference, EqualTextsNeedNoEdit) {
    EXPECT_TRUE(textDifference("a\nb\n", "a\nb\n").empty());
    EXPECT_TRUE(textDifference("", "").empty());
}

TEST(TextDifference, AnEditHoldsOnlyTheCharactersThatDiffer) {
    auto edits = textDifference("int x = 1\nint y;\n", "int x = 1;\nint y;\n");
    ASSERT_EQ(edits.size(), 1u);
    EXPECT_EQ(edits[0], (analysis::TextEdit{{9, 9}, ";"}));
}

TEST(TextDifference, EachChangedPlaceIsItsOwnEdit) {
    EXPECT_EQ(textDifference("a\nb\nc\nd\n", "A\nb\nc\nD\n").size(), 2u);
}

TEST(TextDifference, AppliedToTheFirstTextGivesTheSecond) {
    const std::string texts[] = {"",           "a",         "a\n",        "a\nb\nc\n",
                                 "b\nc\na\n",  "a\na\na\n", "a\n\nb",     "c\nb\na\n",
                                 "a\nx\nb\nc", "\n\n\n",    "a\r\nb\r\n", "a\nb\nb\nc\n"};
    for (const std::string& before : texts) {
        for (const std::string& after : texts)
            EXPECT_EQ(applied(before, after), after) << "from '" << before << "'";
    }
}

} // namespace
} // namespace kernelskill::engine
