/// Programs with dynamic extents, as torch.export writes what models do with shapes.
#pragma once

#include "tests/engine/graph/program_builder.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::engine::graph::testing {

/// A program under the name of what it has.
struct DynamicProgram {
    std::string name; ///< An identifier.
    Program program;
};

inline std::vector<std::int64_t> numbers(std::vector<std::int64_t> values) {
    return values;
}
/// An integer that the graph computes, as an argument.
inline SymbolicInt computed(const std::string& name) {
    return ValueName{name};
}
inline NamedArgument sizes(const std::string& parameter, std::vector<SymbolicInt> values) {
    return {parameter, std::move(values)};
}
inline NamedArgument sizeOfAxis(std::int64_t axis) {
    return {"dim", axis};
}

/// A perceptron over rows, of which there are 2 to 4096.
inline Program rowsOfPerceptron() {
    ProgramBuilder builder;
    builder.symbol("s77", 7, {2, 4096})
        .sizedInput("x", {"s77", "24"})
        .parameter("a", {40, 24})
        .parameter("b", {40})
        .parameter("c", {10, 40})
        .node("linear", "aten.linear.default",
              {value("input", "x"), value("weight", "a"), value("bias", "b")})
        .sizedType("linear", {"s77", "40"})
        .node("relu", "aten.relu.default", {value("self", "linear")})
        .sizedType("relu", {"s77", "40"})
        .node("second", "aten.linear.default", {value("input", "relu"), value("weight", "c")})
        .sizedType("second", {"s77", "10"})
        .node("softmax", "aten.softmax.int", {value("self", "second"), {"dim", std::int64_t{-1}}})
        .sizedType("softmax", {"s77", "10"})
        .output("softmax");
    return builder.program();
}

/// x.view(x.shape[0], -1) and a normalisation of the rows.
inline Program flattenedRows() {
    ProgramBuilder builder;
    builder.symbol("s0", 6, {1, {}})
        .sizedInput("x", {"s0", "5", "9"})
        .parameter("w", {45})
        .numberNode("n", "aten.sym_size.int", {value("self", "x"), sizeOfAxis(0)}, "s0")
        .node("view", "aten.view.default",
              {value("self", "x"), sizes("size", {computed("n"), std::int64_t{-1}})})
        .sizedType("view", {"s0", "45"})
        .node("norm", "aten.layer_norm.default",
              {value("input", "view"),
               {"normalized_shape", numbers({45})},
               value("weight", "w"),
               {"bias", std::monostate()},
               {"eps", 1e-5}})
        .sizedType("norm", {"s0", "45"})
        .output("norm");
    return builder.program();
}

/// Self-attention of four heads with causal masking over a batch and a length.
inline Program attentionOfAnyLength() {
    ProgramBuilder builder;
    builder.symbol("s0", 2, {1, 64})
        .symbol("s1", 6, {2, 512})
        .sizedInput("x", {"s0", "s1", "32"})
        .parameter("w", {96, 32})
        .numberNode("batch", "aten.sym_size.int", {value("self", "x"), sizeOfAxis(0)}, "s0")
        .numberNode("length", "aten.sym_size.int", {value("self", "x"), sizeOfAxis(1)}, "s1")
        .node("qkv", "aten.linear.default", {value("input", "x"), value("weight", "w")})
        .sizedType("qkv", {"s0", "s1", "96"})
        .nodeWithResults(
            "split", "aten.split.Tensor",
            {value("self", "qkv"), {"split_size", std::int64_t{32}}, {"dim", std::int64_t{-1}}},
            {{"q", "k", "v"}});
    for (const char* name : {"q", "k", "v"}) {
        const std::string part(name);
        builder.sizedType(part, {"s0", "s1", "32"})
            .node(part + "_view", "aten.view.default",
                  {value("self", part), sizes("size", {computed("batch"), computed("length"),
                                                       std::int64_t{4}, std::int64_t{8}})})
            .sizedType(part + "_view", {"s0", "s1", "4", "8"})
            .node(part + "_heads", "aten.permute.default",
                  {value("self", part + "_view"), {"dims", numbers({0, 2, 1, 3})}})
            .sizedType(part + "_heads", {"s0", "4", "s1", "8"});
    }
    builder
        .node("attention", "aten.scaled_dot_product_attention.default",
              {value("query", "q_heads"),
               value("key", "k_heads"),
               value("value", "v_heads"),
               {"attn_mask", std::monostate()},
               {"dropout_p", 0.0},
               {"is_causal", true}})
        .sizedType("attention", {"s0", "4", "s1", "8"})
        .node("together", "aten.permute.default",
              {value("self", "attention"), {"dims", numbers({0, 2, 1, 3})}})
        .sizedType("together", {"s0", "s1", "4", "8"})
        .node("joined", "aten.flatten.using_ints",
              {value("self", "together"), {"start_dim", std::int64_t{2}}})
        .sizedType("joined", {"s0", "s1", "32"})
        .node("mean", "aten.mean.dim", {value("self", "joined"), {"dim", numbers({1})}})
        .sizedType("mean", {"s0", "32"})
        .output("mean")
        .output("joined");
    return builder.program();
}

/// An image net over a batch and square images of any size from 8 on.
inline Program imagesOfAnySize() {
    ProgramBuilder builder;
    builder.symbol("s0", 3, {1, 128})
        .symbol("s1", 12, {8, 256})
        .sizedInput("x", {"s0", "3", "s1", "s1"})
        .parameter("w", {8, 3, 3, 3})
        .node("conv", "aten.conv2d.default",
              {value("input", "x"),
               value("weight", "w"),
               {"stride", numbers({2, 2})},
               {"padding", numbers({1, 1})}})
        .sizedType("conv", {"s0", "8", "(s1 - 1)//2 + 1", "(s1 - 1)//2 + 1"})
        .node("relu", "aten.relu.default", {value("self", "conv")})
        .sizedType("relu", {"s0", "8", "(s1 - 1)//2 + 1", "(s1 - 1)//2 + 1"})
        .node("pool", "aten.max_pool2d.default",
              {value("self", "relu"), {"kernel_size", numbers({2, 2})}})
        .sizedType("pool", {"s0", "8", "((s1 - 1)//2 - 1)//2 + 1", "((s1 - 1)//2 - 1)//2 + 1"})
        .node("mean", "aten.mean.dim", {value("self", "pool"), {"dim", numbers({2, 3})}})
        .sizedType("mean", {"s0", "8"})
        .output("mean");
    return builder.program();
}

/// Rows in pairs: an input of 2*s0 rows, which is seen as s0 pairs.
inline Program pairsOfRows() {
    ProgramBuilder builder;
    builder.symbol("s0", 5, {1, 500})
        .sizedInput("x", {"2*s0", "12"})
        .numberNode("rows", "aten.sym_size.int", {value("self", "x"), sizeOfAxis(0)}, "2*s0")
        .numberNode("pairs", "_operator.floordiv",
                    {{"a", computed("rows")}, {"b", std::int64_t{2}}}, "s0")
        .node("view", "aten.view.default",
              {value("self", "x"),
               sizes("size", {computed("pairs"), std::int64_t{2}, std::int64_t{12}})})
        .sizedType("view", {"s0", "2", "12"})
        .node("sum", "aten.sum.dim_IntList", {value("self", "view"), {"dim", numbers({1})}})
        .sizedType("sum", {"s0", "12"})
        .output("sum");
    return builder.program();
}

/// The difference of neighbours: an input of s0 + 1 elements a row beside one of s0.
inline Program differencesOfNeighbours() {
    ProgramBuilder builder;
    builder.symbol("s0", 9, {2, 1000})
        .sizedInput("x", {"4", "s0"})
        .sizedInput("y", {"4", "s0 + 1"})
        .node("later", "aten.slice.Tensor",
              {value("self", "y"),
               {"dim", std::int64_t{1}},
               {"start", std::int64_t{1}},
               {"end", std::int64_t{9223372036854775807}}})
        .sizedType("later", {"4", "s0"})
        .node("earlier", "aten.slice.Tensor",
              {value("self", "y"),
               {"dim", std::int64_t{1}},
               {"start", std::int64_t{0}},
               {"end", std::int64_t{-1}}})
        .sizedType("earlier", {"4", "s0"})
        .node("difference", "aten.sub.Tensor", {value("self", "later"), value("other", "earlier")})
        .sizedType("difference", {"4", "s0"})
        .node("sum", "aten.add.Tensor", {value("self", "difference"), value("other", "x")})
        .sizedType("sum", {"4", "s0"})
        .node("scan", "aten.cumsum.default", {value("self", "sum"), {"dim", std::int64_t{1}}})
        .sizedType("scan", {"4", "s0"})
        .output("scan");
    return builder.program();
}

/// Two batches behind each other, normalised over all rows, and divided by their number.
inline Program joinedBatches() {
    ProgramBuilder builder;
    builder.symbol("s0", 4, {1, 300})
        .symbol("s1", 3, {1, 300})
        .sizedInput("x", {"s0", "20"})
        .sizedInput("y", {"s1", "20"})
        .node("cat", "aten.cat.default",
              {{"tensors", std::vector<ValueName>{{"x"}, {"y"}}}, {"dim", std::int64_t{0}}})
        .sizedType("cat", {"s0 + s1", "20"})
        .numberNode("a", "aten.sym_size.int", {value("self", "x"), sizeOfAxis(0)}, "s0")
        .numberNode("b", "aten.sym_size.int", {value("self", "y"), sizeOfAxis(0)}, "s1")
        .numberNode("rows", "_operator.add", {{"a", computed("a")}, {"b", computed("b")}},
                    "s0 + s1")
        .node("softmax", "aten.softmax.int", {value("self", "cat"), {"dim", std::int64_t{0}}})
        .sizedType("softmax", {"s0 + s1", "20"})
        .node("sum", "aten.sum.dim_IntList", {value("self", "cat"), {"dim", numbers({0})}})
        .sizedType("sum", {"20"})
        .node("mean", "aten.div.Tensor", {value("self", "sum"), {"other", computed("rows")}})
        .sizedType("mean", {"20"})
        .output("softmax")
        .output("mean");
    return builder.program();
}

/// A mask and a bias that are repeated for each row, and a loss over all elements.
inline Program lossOverRows() {
    ProgramBuilder builder;
    builder.symbol("s0", 10, {2, {}})
        .sizedInput("x", {"s0", "16"})
        .sizedInput("y", {"s0", "16"})
        .parameter("bias", {1, 16})
        .numberNode("n", "aten.sym_size.int", {value("self", "x"), sizeOfAxis(0)}, "s0")
        .node("repeated", "aten.expand.default",
              {value("self", "bias"), sizes("size", {computed("n"), std::int64_t{16}})})
        .sizedType("repeated", {"s0", "16"})
        .node("ones", "aten.ones.default", {sizes("size", {computed("n"), std::int64_t{16}})})
        .sizedType("ones", {"s0", "16"})
        .node("mask", "aten.triu.default", {value("self", "ones"), {"diagonal", std::int64_t{1}}})
        .sizedType("mask", {"s0", "16"})
        .node("masked", "aten.mul.Tensor", {value("self", "x"), value("other", "mask")})
        .sizedType("masked", {"s0", "16"})
        .node("shifted", "aten.add.Tensor", {value("self", "masked"), value("other", "repeated")})
        .sizedType("shifted", {"s0", "16"})
        .node("loss", "aten.smooth_l1_loss.default",
              {value("self", "shifted"), value("target", "y")})
        .sizedType("loss", {})
        .output("loss");
    return builder.program();
}

/// A product of matrices all of whose extents are dynamic, for batches.
inline Program productOfAnySize() {
    ProgramBuilder builder;
    builder.symbol("s0", 2, {1, 16})
        .symbol("s1", 18, {2, 2000})
        .symbol("s2", 11, {2, 2000})
        .symbol("s3", 21, {2, 2000})
        .sizedInput("x", {"s0", "s1", "s2"})
        .sizedInput("y", {"s0", "s2", "s3"})
        .node("product", "aten.bmm.default", {value("self", "x"), value("mat2", "y")})
        .sizedType("product", {"s0", "s1", "s3"})
        .nodeWithResults("largest", "aten.max.dim",
                         {value("self", "product"), {"dim", std::int64_t{2}}},
                         {{"largest"}, {"place"}})
        .sizedType("largest", {"s0", "s1"})
        .sizedType("place", {"s0", "s1"}, ElementType::Int64)
        .output("product")
        .output("largest")
        .output("place");
    return builder.program();
}

/// Two inputs of which the program asserts that one is not longer than the other.
inline Program assertedLengths() {
    ProgramBuilder builder;
    builder.symbol("s0", 5, {2, 40})
        .symbol("s1", 8, {2, 40})
        .sizedInput("x", {"s0", "6"})
        .sizedInput("y", {"s1", "6"})
        .asserted("check", {ExtentRelation::Kind::AtMost, "s0", "s1", {}})
        .node("turned", "aten.permute.default", {value("self", "y"), {"dims", numbers({1, 0})}})
        .sizedType("turned", {"6", "s1"})
        .node("product", "aten.matmul.default", {value("self", "x"), value("other", "turned")})
        .sizedType("product", {"s0", "s1"})
        .output("product");
    return builder.program();
}

inline std::vector<DynamicProgram> dynamicPrograms() {
    return {{"rowsOfPerceptron", rowsOfPerceptron()},
            {"flattenedRows", flattenedRows()},
            {"attentionOfAnyLength", attentionOfAnyLength()},
            {"imagesOfAnySize", imagesOfAnySize()},
            {"pairsOfRows", pairsOfRows()},
            {"differencesOfNeighbours", differencesOfNeighbours()},
            {"joinedBatches", joinedBatches()},
            {"lossOverRows", lossOverRows()},
            {"productOfAnySize", productOfAnySize()},
            {"assertedLengths", assertedLengths()}};
}

} // namespace kernelskill::engine::graph::testing
