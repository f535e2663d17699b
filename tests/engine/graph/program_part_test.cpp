#include "engine/graph/program_part.h"
#include "engine/graph/type_text.h"
#include "tests/engine/graph/program_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ProgramBuilder;
using testing::value;

/// Two equal layers, and a sum of what the first one gives.
Program twoLayers() {
    ProgramBuilder builder;
    builder.input("x", {4, 8}).parameter("w0", {8, 8}).parameter("w1", {8, 8});
    std::string from = "x";
    for (const std::string number : {"0", "1"}) {
        builder
            .node("linear" + number, "aten.linear.default",
                  {value("input", from), value("weight", "w" + number)})
            .type("linear" + number, {4, 8})
            .node("relu" + number, "aten.relu.default", {value("self", "linear" + number)})
            .type("relu" + number, {4, 8});
        from = "relu" + number;
    }
    builder
        .node("sum", "aten.sum.dim_IntList",
              {value("self", "relu0"), {"dim", std::vector<std::int64_t>{1}}})
        .type("sum", {4})
        .output("relu1")
        .output("sum");
    return builder.program();
}

std::string textOf(const Program& program) {
    std::string text;
    for (const Node& node : program.nodes) {
        text += node.name + " " + node.target;
        for (const NamedArgument& argument : node.arguments)
            text += " " + graph::textOf(argument.value);
        text += " -> " + node.results.at(0).at(0) + "\n";
    }
    for (const Output& output : program.outputs)
        text += "output " + output.value + "\n";
    return text;
}

TEST(ProgramPart, TakesWhatOthersComputeForAnInput) {
    const auto part = programPart(twoLayers(), {{"linear1", "relu1"}, {"relu1"}});
    ASSERT_TRUE(part) << part.error().describe();
    EXPECT_EQ(textOf(*part), "node0 aten.linear.default value0 value1 -> value2\n"
                             "node1 aten.relu.default value2 -> value3\n"
                             "output value3\n");
    ASSERT_EQ(part->inputs.size(), 2u);
    EXPECT_EQ(part->inputs[0].kind, Input::Kind::User);
    EXPECT_EQ(part->inputs[1].kind, Input::Kind::Parameter);
    EXPECT_TRUE(part->tensors.contains(part->inputs[1].target));
    EXPECT_EQ(graph::textOf(part->values.at("value0")), "float32[4, 8]");
    EXPECT_EQ(part->values.size(), 4u);
}

TEST(ProgramPart, SaysWhichValuesItsOwnAre) {
    const auto part = namedPart(twoLayers(), {{"linear1", "relu1"}, {"relu1"}});
    ASSERT_TRUE(part) << part.error().describe();
    EXPECT_THAT(part->names, ::testing::UnorderedElementsAre(::testing::Pair("relu0", "value0"),
                                                             ::testing::Pair("w1", "value1"),
                                                             ::testing::Pair("linear1", "value2"),
                                                             ::testing::Pair("relu1", "value3")));
}

TEST(ProgramPart, IsTheSameForEqualLayers) {
    const auto first = programPart(twoLayers(), {{"linear0", "relu0"}, {"relu0"}});
    const auto second = programPart(twoLayers(), {{"linear1", "relu1"}, {"relu1"}});
    ASSERT_TRUE(first && second);
    EXPECT_EQ(textOf(*first), textOf(*second));
}

TEST(ProgramPart, NamesWhatItCannotTake) {
    const auto none = programPart(twoLayers(), {{"linear7"}, {}});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::InvalidInput);
    const auto other = programPart(twoLayers(), {{"linear1"}, {"relu1"}});
    ASSERT_FALSE(other);
    EXPECT_THAT(other.error().what, HasSubstr("relu1"));

    Program dynamic = twoLayers();
    dynamic.symbols["s0"] = {1, 64};
    const auto sized = programPart(dynamic, {{"linear0"}, {"linear0"}});
    ASSERT_FALSE(sized);
    EXPECT_EQ(sized.error().kind, ErrorKind::Unsupported);

    Program counted = twoLayers();
    counted.nodes[0].arguments.push_back({"dim", SymbolicInt(ValueName{"sym_size"})});
    const auto number = programPart(counted, {{"linear0"}, {"linear0"}});
    ASSERT_FALSE(number);
    EXPECT_THAT(number.error().describe(), HasSubstr("sym_size"));
    EXPECT_THAT(number.error().describe(), HasSubstr("linear0"));
}

} // namespace
} // namespace kernelskill::engine::graph
