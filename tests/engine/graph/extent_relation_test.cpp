#include "engine/graph/extent_relation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

using ::testing::ElementsAre;

/// Prints the relations that are read from the text; "none" if it cannot be read.
std::vector<std::string> read(std::string_view text) {
    const auto relations = parseRelations(text);
    if (!relations)
        return {"none"};
    std::vector<std::string> texts;
    for (const ExtentRelation& relation : *relations)
        texts.push_back(textOf(relation));
    return texts;
}

constexpr std::string_view s0 = "Symbol('s0', positive=True, integer=True)";

std::string of(std::string_view relation, std::string_view right) {
    return std::string(relation) + "(" + std::string(s0) + ", " + std::string(right) + ")";
}

TEST(ParseRelations, ReadsTheClassesOfSympy) {
    EXPECT_THAT(read(of("Equality", "Integer(8)")), ElementsAre("s0 == 8"));
    EXPECT_THAT(read(of("Unequality", "Integer(8)")), ElementsAre("s0 != 8"));
    EXPECT_THAT(read(of("LessThan", "Integer(8)")), ElementsAre("s0 <= 8"));
    EXPECT_THAT(read(of("StrictLessThan", "Integer(8)")), ElementsAre("s0 < 8"));
    EXPECT_THAT(read(of("GreaterThan", "Integer(8)")), ElementsAre("8 <= s0"));
    EXPECT_THAT(read(of("StrictGreaterThan", "Integer(8)")), ElementsAre("8 < s0"));
    EXPECT_THAT(read(of("torch.utils._sympy.Eq", "FloorDiv(Symbol('s1'), Integer(2))")),
                ElementsAre("s0 == s1//2"));
}

TEST(ParseRelations, ReadsConditionsThatHoldTogether) {
    EXPECT_THAT(read("And(" + of("LessThan", "Integer(8)") + ", " +
                     of("GreaterThan", "Add(Symbol('s1'), Integer(1))") + ")"),
                ElementsAre("s0 <= 8", "s1 + 1 <= s0"));
}

TEST(ParseRelations, ReadsNothingElse) {
    for (const char* text :
         {"", "true", "Or(Eq(Symbol('a'), Integer(1)), Eq(Symbol('a'), Integer(2)))", "Equality(",
          "Equality(Integer(1))", "Equality(Integer(1), sin(Symbol('a')))",
          "Equality(Integer(1), Integer(1)) + Equality(Integer(2), Integer(2))",
          "And(Equality(Integer(1), Integer(1)), true)"})
        EXPECT_THAT(read(text), ElementsAre("none")) << text;
    EXPECT_THAT(read(std::string(5000, '(')), ElementsAre("none"));
}

TEST(Relations, HoldByTheValuesOfSymbols) {
    const auto isMet = [](std::string_view text, std::int64_t value) {
        return holds(parseRelations(text)->front(), {{"s0", value}}).value();
    };
    EXPECT_TRUE(isMet(of("LessThan", "Integer(8)"), 8));
    EXPECT_FALSE(isMet(of("LessThan", "Integer(8)"), 9));
    EXPECT_FALSE(isMet(of("StrictLessThan", "Integer(8)"), 8));
    EXPECT_TRUE(isMet(of("Equality", "Integer(8)"), 8));
    EXPECT_TRUE(isMet(of("Unequality", "Integer(8)"), 7));
    EXPECT_FALSE(holds(parseRelations(of("Equality", "Integer(8)"))->front(), {}))
        << "without a value";
}

} // namespace
} // namespace kernelskill::engine::graph
