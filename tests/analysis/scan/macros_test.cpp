#include "analysis/scan/macros.h"

#include <gtest/gtest.h>

namespace kernelskill::analysis {
namespace {

MacroTable tableOf(std::string_view text) {
    MacroTable table;
    table.addDefinitionsOf(lex(text));
    return table;
}

TEST(Macros, anObjectLikeBodyMayBeginWithAParenthesis) {
    const auto table = tableOf("#define N (1 << 4)\n#define F(a, b) ((a) + (b))\n");
    ASSERT_NE(table.find("N"), nullptr);
    EXPECT_FALSE(table.find("N")->isFunctionLike);
    EXPECT_EQ(table.find("N")->body, "(1 << 4)");
    ASSERT_NE(table.find("F"), nullptr);
    EXPECT_EQ(table.find("F")->parameters, (std::vector<std::string>{"a", "b"}));
}

TEST(Macros, aWordIsFoundThroughSeveralExpansions) {
    const auto table =
        tableOf("#define DEVICE __device__\n#define HD __host__ DEVICE\n#define LOOP LOOP\n");
    EXPECT_TRUE(table.names("HD", {"__device__"}));
    EXPECT_FALSE(table.names("LOOP", {"__device__"}));
}

TEST(Macros, anOptionWithoutValueIsOne) {
    MacroTable table;
    table.addOption("FAST");
    table.addOption("TILE=32");
    EXPECT_EQ(table.find("FAST")->body, "1");
    EXPECT_EQ(table.find("TILE")->body, "32");
}

} // namespace
} // namespace kernelskill::analysis
