#include "engine/graph/symbol_values.h"
#include "tests/engine/graph/dynamic_programs.h"
#include "tests/engine/graph/program_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace kernelskill::engine::graph::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(SymbolSources, AreExtentsOfInputs) {
    const auto sources = symbolSources(differencesOfNeighbours());
    ASSERT_TRUE(sources) << sources.error().describe();
    ASSERT_EQ(sources->size(), 1U);
    EXPECT_EQ((*sources)[0].input, "x");
    EXPECT_EQ((*sources)[0].axis, 1U);
    EXPECT_EQ((*sources)[0].factor, 1);
    EXPECT_EQ((*sources)[0].offset, 0);
}

TEST(SymbolSources, SolveWhatIsLinear) {
    ProgramBuilder builder;
    builder.symbol("s0", 5, {1, 9}).sizedInput("x", {"8", "3*(s0 - 1) + 2"});
    const auto sources = symbolSources(builder.program());
    ASSERT_TRUE(sources) << sources.error().describe();
    EXPECT_EQ((*sources)[0].factor, 3);
    EXPECT_EQ((*sources)[0].offset, -1);
    EXPECT_THAT(*exportedSymbols(builder.program()), ElementsAre(Pair("s0", 5)));
}

TEST(SymbolSources, AreMissedByName) {
    ProgramBuilder product;
    product.symbol("s0", 2, {1, 9}).symbol("s1", 3, {1, 9}).sizedInput("x", {"s0*s1", "s0"});
    const auto sources = symbolSources(product.program());
    ASSERT_FALSE(sources);
    EXPECT_EQ(sources.error().kind, ErrorKind::Unsupported);
    EXPECT_THAT(sources.error().what, HasSubstr("s1 is the extent of no input"));

    ProgramBuilder number;
    number.symbol("s0", 2, {1, 9}).number("n", "s0");
    number.program().inputs.push_back({Input::Kind::User, "n", {}, {}});
    const auto ofNumber = symbolSources(number.program());
    ASSERT_FALSE(ofNumber);
    EXPECT_THAT(ofNumber.error().what,
                HasSubstr("the input n is a number, s0, and no extent of a tensor"));
}

TEST(SymbolProblem, SaysWhatIsNotAllowed) {
    const Program program = assertedLengths();
    EXPECT_EQ(symbolProblem(program, {{"s0", 5}, {"s1", 8}}), "");
    EXPECT_EQ(symbolProblem(program, {{"s0", 5}, {"s1", 41}}),
              "s1 is 41, and the program takes 2 ... 40");
    EXPECT_EQ(symbolProblem(program, {{"s0", 1}, {"s1", 8}}),
              "s0 is 1, and the program takes 2 ... 40");
    EXPECT_EQ(symbolProblem(program, {{"s0", 9}, {"s1", 8}}), "s0 <= s1 does not hold");
    EXPECT_EQ(symbolProblem(program, {{"s0", 9}}), "s1 has no value");
}

TEST(SymbolProblem, SaysWhichExtentCannotBe) {
    ProgramBuilder builder;
    builder.symbol("s0", 9, {1, {}}).sizedInput("x", {"s0"}).sizedType("y", {"s0 - 4"});
    EXPECT_EQ(symbolProblem(builder.program(), {{"s0", 4}}), "");
    EXPECT_THAT(symbolProblem(builder.program(), {{"s0", 3}}),
                AllOf(HasSubstr("s0 - 4"), HasSubstr("of y is -1")));
}

TEST(WithSymbolValues, ChangesAllThatFollows) {
    const auto program = withSymbolValues(pairsOfRows(), {{"s0", 11}});
    ASSERT_TRUE(program) << program.error().describe();
    EXPECT_EQ(program->values.at("x").sizes[0], (Extent{22, "2*s0"}));
    EXPECT_EQ(program->values.at("view").sizes[0], (Extent{11, "s0"}));
    EXPECT_EQ(program->symbolicInts.at("rows").value, 22);
    EXPECT_EQ(program->values.at("x").sizes[1], (Extent{12, {}}));
    const auto refused = withSymbolValues(pairsOfRows(), {{"s0", 501}});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("s0 is 501"));
}

TEST(WithSymbolValues, ChangesStrides) {
    ProgramBuilder builder;
    builder.symbol("s0", 9, {1, {}}).sizedInput("x", {"2", "s0", "4"});
    EXPECT_EQ(builder.program().values.at("x").strides[0].value, 36);
    const auto program = withSymbolValues(builder.program(), {{"s0", 3}});
    ASSERT_TRUE(program) << program.error().describe();
    EXPECT_EQ(program->values.at("x").strides[0].value, 12);
    EXPECT_EQ(program->values.at("x").strides[1].value, 4);
}

TEST(SymbolTrials, AreAllowedAndDiffer) {
    for (const DynamicProgram& dynamic : dynamicPrograms()) {
        SCOPED_TRACE(dynamic.name);
        const auto trials = symbolTrials(dynamic.program);
        EXPECT_EQ(trials.size(), 3U);
        EXPECT_EQ(trials.at(0), *exportedSymbols(dynamic.program));
        EXPECT_EQ(std::set(trials.begin(), trials.end()).size(), trials.size());
        for (const SymbolValues& values : trials)
            EXPECT_EQ(symbolProblem(dynamic.program, values), "");
    }
}

TEST(SymbolTrials, HaveTheSmallestAndOddValues) {
    EXPECT_THAT(symbolTrials(assertedLengths()),
                ElementsAre(ElementsAre(Pair("s0", 5), Pair("s1", 8)),
                            ElementsAre(Pair("s0", 2), Pair("s1", 2)),
                            ElementsAre(Pair("s0", 7), Pair("s1", 37))));
}

TEST(SymbolTrials, AreOneForAFixedProgramAndNoneForOneThatIsNotAllowed) {
    ProgramBuilder fixed;
    fixed.input("x", {4});
    EXPECT_THAT(symbolTrials(fixed.program()), ElementsAre(IsEmpty()));
    ProgramBuilder outside;
    outside.symbol("s0", 9, {1, 8}).sizedInput("x", {"s0"});
    EXPECT_THAT(symbolTrials(outside.program()), IsEmpty());
}

} // namespace
} // namespace kernelskill::engine::graph::testing
