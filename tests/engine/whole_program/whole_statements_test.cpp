#include "engine/whole_program/whole_statements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::engine {
namespace {

using analysis::TextEdit;

const std::string text = "void run() {\n"
                         "    scale<<<n / 128,\n            128>>>(x, y);\n"
                         "    addBias<<<8, 128>>>(y, b);\n"
                         "}\n";

TextEdit replacing(const std::string& what, const std::string& by) {
    const auto begin = static_cast<std::uint32_t>(text.find(what));
    return {{begin, begin + static_cast<std::uint32_t>(what.size())}, by};
}

std::string edited(const std::vector<TextEdit>& edits) {
    return analysis::applyEdits(text, edits).value_or("they overlap");
}

TEST(WholeStatements, HoldTheStatementsAroundTheEdits) {
    const std::vector<TextEdit> edits{replacing("(x, y)", "(x, y, b)"), replacing("scale", "both")};
    const auto whole = asWholeStatements(text, edits);
    ASSERT_TRUE(whole);
    ASSERT_EQ(whole->size(), 1u) << "both are of one statement";
    const TextEdit launch = replacing("\n    scale<<<n / 128,\n            128>>>(x, y)",
                                      "\n    both<<<n / 128,\n            128>>>(x, y, b)");
    EXPECT_EQ(whole->front(), launch);
    EXPECT_EQ(edited(*whole), edited(edits));
}

TEST(WholeStatements, LeaveOtherStatementsAlone) {
    const std::vector<TextEdit> edits{
        {{0, 0}, "int first;\n"},
        replacing("    addBias<<<8, 128>>>(y, b);\n", ""),
        {{static_cast<std::uint32_t>(text.size()), static_cast<std::uint32_t>(text.size())},
         "int last;\n"}};
    const auto whole = asWholeStatements(text, edits);
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->size(), 3u);
    EXPECT_EQ(edited(*whole), edited(edits));
    const TextEdit grid = replacing("n / 128", "n / 256");
    for (const TextEdit& edit : *whole)
        EXPECT_FALSE(edit.span.begin < grid.span.end && grid.span.begin < edit.span.end);
}

TEST(WholeStatements, RefuseEditsThatOverlap) {
    EXPECT_FALSE(asWholeStatements(text, {replacing("scale", "a"), replacing("cal", "b")}));
}

} // namespace
} // namespace kernelskill::engine
