#include "engine/graph/reference/contiguous_tensor.h"
#include "engine/graph/reference/smaller_program.h"
#include "tests/engine/graph/program_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace kernelskill::engine::graph::testing {
namespace {

using ::testing::ElementsAre;

TEST(SmallerExtent, IsPositiveAndWithinTheLimit) {
    for (const std::int64_t limit : {8, 12, 20, 32, 64})
        for (std::int64_t extent = 1; extent <= 5000; ++extent) {
            const std::int64_t smaller = smallerExtent(extent, limit);
            ASSERT_GE(smaller, 1) << extent << ", " << limit;
            ASSERT_LE(smaller, limit) << extent;
            ASSERT_LE(smaller, extent);
        }
}

TEST(SmallerExtent, KeepsWhatIsSmallAndHalvesTheRest) {
    EXPECT_EQ(smallerExtent(7, 12), 7);
    EXPECT_EQ(smallerExtent(11, 12), 11);
    EXPECT_EQ(smallerExtent(1024, 12), 8);
    EXPECT_EQ(smallerExtent(1024, 64), 32);
    EXPECT_EQ(smallerExtent(0, 12), 0) << "a tensor without elements has none";
}

Sizes sizesIn(const Program& program, const std::string& value) {
    return graph::valuesOf(program.values.at(value).sizes);
}

TEST(WithExtents, MakesInputsWeightsAndSizesSmaller) {
    ProgramBuilder builder;
    builder.input("x", {1024, 64})
        .held(Input::Kind::Parameter, "large", floats({64}, std::vector<float>(64, 1)))
        .held(Input::Kind::Parameter, "small", floats({3}, {1, 2, 3}))
        .node("y", "aten.view.default",
              {value("self", "x"), {"size", std::vector<std::int64_t>{-1, 512}}})
        .node("z", "aten.group_norm.default",
              {value("input", "y"), {"num_groups", std::int64_t{32}}, {"dim", std::int64_t{64}}});
    const Program smaller = withExtents(builder.program(), 12);
    EXPECT_THAT(sizesIn(smaller, "x"), ElementsAre(8, 8));
    EXPECT_THAT(sizesIn(smaller, "large"), ElementsAre(8));
    EXPECT_EQ(smaller.tensors.at("module.large").owner, nullptr) << "its data no longer fits";
    EXPECT_THAT(valuesOf<float>(smaller.tensors.at("module.small")), ElementsAre(1, 2, 3));
    EXPECT_THAT(std::get<std::vector<std::int64_t>>(smaller.nodes[0].arguments[1].value),
                ElementsAre(-1, 8));
    EXPECT_EQ(std::get<std::int64_t>(smaller.nodes[1].arguments[1].value), 8);
    EXPECT_EQ(std::get<std::int64_t>(smaller.nodes[1].arguments[2].value), 64) << "no size";
}

TEST(WithExtents, KeepsDynamicExtents) {
    ProgramBuilder builder;
    builder.dynamicInput("x", {37, 64}, "s0", {1, 100});
    const Program smaller = withExtents(builder.program(), 12);
    EXPECT_THAT(sizesIn(smaller, "x"), ElementsAre(37, 8));
    EXPECT_EQ(smaller.values.at("x").sizes[0].expression, "s0");
    EXPECT_TRUE(smaller.symbols.contains("s0"));
}

TEST(WithExtents, MakesTheNumbersOfExtentArithmeticSmaller) {
    ProgramBuilder builder;
    builder.dynamicInput("x", {37, 64}, "s0", {1, 100})
        .node("n", "_operator.mul", {{"a", SymbolicInt(ValueName{"s"})}, {"b", std::int64_t{64}}})
        .node("y", "aten.view.default",
              {value("self", "x"),
               {"size", std::vector<SymbolicInt>{ValueName{"s"}, std::int64_t{64}}}});
    const Program smaller = withExtents(builder.program(), 12);
    EXPECT_EQ(std::get<std::int64_t>(smaller.nodes[0].arguments[1].value), 8);
    EXPECT_EQ(std::get<std::int64_t>(
                  std::get<std::vector<SymbolicInt>>(smaller.nodes[1].arguments[1].value)[1]),
              8);
}

TEST(WithFixedExtents, GivesDynamicExtentsTheirValueAtExport) {
    ProgramBuilder builder;
    builder.dynamicInput("x", {37, 4}, "s0", {1, 100});
    const Program fixed = withFixedExtents(builder.program());
    EXPECT_THAT(sizesIn(fixed, "x"), ElementsAre(37, 4));
    EXPECT_FALSE(fixed.values.at("x").sizes[0].isDynamic());
    EXPECT_TRUE(fixed.symbols.empty());
}

} // namespace
} // namespace kernelskill::engine::graph::testing
