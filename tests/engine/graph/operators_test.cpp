#include "engine/graph/operators.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kernelskill::engine::graph {
namespace {

TEST(Operators, AreFoundByTheirTargets) {
    EXPECT_EQ(knownOperators().size(), 106u);
    for (const Operator& known : knownOperators())
        EXPECT_EQ(findOperator(known.target), &known);
    EXPECT_EQ(findOperator("aten.linear"), nullptr);
    EXPECT_EQ(findOperator(""), nullptr);
    EXPECT_EQ(findOperator("zzz"), nullptr);
}

TEST(Operators, TellTheAxesOfConvolutions) {
    EXPECT_EQ(convolvedAxes("aten.conv1d.default"), 1u);
    EXPECT_EQ(convolvedAxes("aten.conv_transpose2d.input"), 2u);
    EXPECT_EQ(convolvedAxes("aten.conv3d.default"), 3u);
    EXPECT_EQ(convolvedAxes("aten.max_pool2d.default"), 0u);
    EXPECT_EQ(std::ranges::count_if(
                  knownOperators(),
                  [](const Operator& known) { return convolvedAxes(known.target) != 0; }),
              6);
}

TEST(Operators, GiveWhatANodeLeavesOut) {
    Node node{
        "conv", "aten.conv2d.default", {{"padding", std::vector<std::int64_t>{2, 2}}}, {}, {}};
    using Ints = std::vector<std::int64_t>;
    EXPECT_EQ(std::get<Ints>(*argumentOf(node, "padding")), (Ints{2, 2}));
    EXPECT_EQ(std::get<Ints>(*argumentOf(node, "stride")), (Ints{1, 1}));
    EXPECT_EQ(std::get<std::int64_t>(*argumentOf(node, "groups")), 1);
    EXPECT_TRUE(std::holds_alternative<std::monostate>(*argumentOf(node, "bias")));
    EXPECT_FALSE(argumentOf(node, "input")); // required, and not given
    EXPECT_FALSE(argumentOf(node, "str"));
    EXPECT_FALSE(argumentOf(node, ""));
    node.target = "aten.layer_norm.default";
    EXPECT_EQ(std::get<double>(*argumentOf(node, "eps")), 1e-5);
    EXPECT_TRUE(std::get<bool>(*argumentOf(node, "cudnn_enable")));
    node.target = "aten.gelu.default";
    EXPECT_EQ(std::get<std::string>(*argumentOf(node, "approximate")), "none");
    node.target = "aten.max_pool2d.default";
    EXPECT_TRUE(std::get<Ints>(*argumentOf(node, "stride")).empty());
    node.target = "aten.cross_entropy_loss.default";
    EXPECT_EQ(std::get<std::int64_t>(*argumentOf(node, "ignore_index")), -100);
    EXPECT_EQ(std::get<double>(*argumentOf(node, "label_smoothing")), 0);
    node.target = "aten.unknown.default";
    EXPECT_FALSE(argumentOf(node, "self"));
}

} // namespace
} // namespace kernelskill::engine::graph
