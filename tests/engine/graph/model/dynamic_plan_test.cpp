/// Plans of models with dynamic extents, and what is refused of such programs.
#include "engine/graph/kernels/kernel_draft.h"
#include "engine/graph/model/model_files.h"
#include "tests/engine/graph/dynamic_programs.h"
#include "tests/engine/graph/program_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace kernelskill::engine::graph::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusalOf(const Program& program) {
    const auto plan = plannedModel(program, "model", {});
    EXPECT_FALSE(plan);
    return plan ? std::string() : plan.error().what;
}

/// The nodes that are left to a library, with the reasons.
std::vector<std::string> leftOf(const Program& program) {
    const auto plan = plannedModel(program, "model", {});
    EXPECT_TRUE(plan) << plan.error().describe();
    std::vector<std::string> left;
    if (plan)
        for (const analysis::raise::LibraryCall* call : libraryCalls(*plan))
            left.push_back(call->node + ": " + call->reason);
    return left;
}

TEST(DynamicPlan, HasKernelsForAllNodes) {
    for (const DynamicProgram& dynamic : dynamicPrograms()) {
        SCOPED_TRACE(dynamic.name);
        EXPECT_THAT(leftOf(dynamic.program), ElementsAre());
        const auto plan = plannedModel(dynamic.program, "model", {});
        ASSERT_TRUE(plan) << plan.error().describe();
        EXPECT_EQ(plan->symbols.size(), dynamic.program.symbols.size());
        for (const ModelStep& step : plan->steps)
            for (const std::string& source : std::get<Kernel>(step.work).sources)
                EXPECT_FALSE(dynamic.program.symbolicInts.contains(source))
                    << "no kernel computes a number of extents";
    }
}

TEST(DynamicPlan, SizesGridsByTheSymbols) {
    const auto plan = plannedModel(flattenedRows(), "model", {});
    ASSERT_TRUE(plan) << plan.error().describe();
    ASSERT_EQ(plan->steps.size(), 1U);
    const Kernel& kernel = std::get<Kernel>(plan->steps[0].work);
    EXPECT_THAT(kernel.symbols, ElementsAre("s0"));
    EXPECT_THAT(hostText(kernel.blocks[0]), HasSubstr("s0"));
}

TEST(DynamicPlan, RoundsDownOnTheHostWithoutDeviceFunctions) {
    using analysis::raise::Index;
    const Index size = Index::size("s0", 1);
    EXPECT_EQ(hostText(quotient(size - 3, 2)),
              "((s0 - 3) >= 0 ? (s0 - 3) / 2 : -((2 - 1 - (s0 - 3)) / 2))");
    EXPECT_EQ(hostText(quotient(size + 3, 2)), "((s0 + 3) / 2)");
}

TEST(DynamicPlan, RefusesNumbersThatAreInputs) {
    ProgramBuilder builder;
    builder.symbol("s0", 4, {1, 9})
        .symbol("s1", 4, {1, 9})
        .sizedInput("x", {"s0"})
        .number("n", "s1")
        .node("y", "aten.mul.Tensor", {value("self", "x"), {"other", computed("n")}})
        .sizedType("y", {"s0"})
        .output("y");
    builder.program().inputs.push_back({Input::Kind::User, "n", {}, {}});
    EXPECT_THAT(refusalOf(builder.program()), HasSubstr("the input n is a number, s1"));
}

TEST(DynamicPlan, RefusesFractionsWithTheNodeThatReadsThem) {
    ProgramBuilder builder;
    builder.symbol("s0", 4, {1, 9})
        .sizedInput("x", {"s0"})
        .numberNode("n", "aten.sym_size.int", {value("self", "x"), sizeOfAxis(0)}, "s0")
        .node("half", "_operator.truediv", {{"a", computed("n")}, {"b", std::int64_t{2}}})
        .node("y", "aten.mul.Tensor", {value("self", "x"), value("other", "half")})
        .sizedType("y", {"s0"})
        .output("y");
    builder.program().otherValues.insert("half");
    EXPECT_THAT(refusalOf(builder.program()),
                HasSubstr("node 'y' (aten.mul.Tensor) reads 'half', which is neither a tensor nor "
                          "an integer"));
}

TEST(DynamicPlan, RefusesMinimaOfSymbolsWithTheNode) {
    ProgramBuilder builder;
    builder.symbol("s0", 4, {1, 9})
        .symbol("s1", 5, {1, 9})
        .sizedInput("x", {"s0"})
        .sizedInput("y", {"s1"})
        .numberNode("n", "torch.sym_min", {{"a", computed("a")}, {"b", computed("b")}},
                    "min(s0, s1)")
        .node("z", "aten.slice.Tensor",
              {value("self", "x"),
               {"dim", std::int64_t{0}},
               {"start", std::int64_t{0}},
               {"end", computed("n")}})
        .sizedType("z", {"min(s0, s1)"})
        .output("z");
    EXPECT_THAT(refusalOf(builder.program()),
                AllOf(HasSubstr("node 'n' (torch.sym_min)"),
                      HasSubstr("the extent min(s0, s1) is one or another")));
}

TEST(DynamicPlan, KeepsMinimaThatAreKnown) {
    ProgramBuilder builder;
    builder.symbol("s0", 4, {1, 9})
        .sizedInput("x", {"s0", "12"})
        .numberNode("n", "aten.sym_size.int", {value("self", "x"), sizeOfAxis(0)}, "s0")
        .numberNode("m", "torch.sym_min", {{"a", computed("n")}, {"b", std::int64_t{12}}},
                    "min(s0, 12)")
        .node("z", "aten.slice.Tensor",
              {value("self", "x"),
               {"dim", std::int64_t{1}},
               {"start", std::int64_t{0}},
               {"end", computed("m")}})
        .sizedType("z", {"s0", "min(s0, 12)"})
        .node("y", "aten.relu.default", {value("self", "z")})
        .sizedType("y", {"s0", "s0"})
        .output("y");
    EXPECT_THAT(leftOf(builder.program()), ElementsAre());
}

TEST(DynamicPlan, LeavesSlicesBeyondTheExtentToALibrary) {
    ProgramBuilder builder;
    builder.symbol("s0", 8, {2, 100})
        .sizedInput("x", {"s0"})
        .node("z", "aten.slice.Tensor",
              {value("self", "x"),
               {"dim", std::int64_t{0}},
               {"start", std::int64_t{0}},
               {"end", std::int64_t{5}}})
        .sizedType("z", {"5"})
        .output("z");
    EXPECT_THAT(leftOf(builder.program()),
                ElementsAre(HasSubstr("z: a bound of the slice, 5, may lie outside of the extent "
                                      "s0")));
}

TEST(DynamicPlan, GivesLibrariesTheIntegersOfTheirArguments) {
    ProgramBuilder builder;
    builder.symbol("s0", 4, {2, 9})
        .sizedInput("x", {"s0", "8"})
        .numberNode("n", "aten.sym_size.int", {value("self", "x"), sizeOfAxis(0)}, "s0")
        .numberNode("m", "_operator.mul", {{"a", computed("n")}, {"b", std::int64_t{2}}}, "2*s0")
        .node("y", "aten.reshape.default",
              {value("self", "x"), sizes("shape", {computed("m"), std::int64_t{4}})})
        .sizedType("y", {"2*s0", "4"})
        .output("y");
    const auto plan = plannedModel(builder.program(), "model", {});
    ASSERT_TRUE(plan) << plan.error().describe();
    EXPECT_THAT(modelFiles(*plan).at("torch_operator.cpp"),
                HasSubstr("{\"shape\", std::vector<std::int64_t>{2 * s0, 4}}"));
}

} // namespace
} // namespace kernelskill::engine::graph::testing
