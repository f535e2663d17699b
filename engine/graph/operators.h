/// The operators that later stages know, with their parameters: the 100 ATen operators that the
/// programs of KernelBench use, and six that programs have which were not decomposed.
///
/// Source: ATen's schemas, of PyTorch 1.13 where they are the same in 2.11.
#pragma once

#include "engine/graph/program.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace kernelskill::engine::graph {

struct Operator {
    std::string_view target; ///< "aten.linear.default"
    /// The parameters in order, separated by blanks, with their defaults as Python writes them:
    /// "input weight bias=None". One for each dimension is written out: "stride=[1,1]".
    std::string_view parameters;
    std::size_t results = 1;
};

[[nodiscard]] std::span<const Operator> knownOperators();

/// Null if it is not known.
[[nodiscard]] const Operator* findOperator(std::string_view target);

/// The operator that a program asserts a condition with.
inline constexpr std::string_view assertedTruth = "aten._assert_scalar.default";
/// Whether the operator computes a number of extents, or asserts something of them, and has no
/// tensor: "aten.sym_size.int", "_operator.add".
[[nodiscard]] bool isOfExtents(std::string_view target);

/// Returns the number of axes that a convolution or transposed convolution runs along, 1 to 3; 0
/// for all other operators.
[[nodiscard]] std::size_t convolvedAxes(std::string_view target);

/// Returns what the node gives a parameter, or the parameter's default. nullopt if it has neither:
/// the operator is not known, has no such parameter, or the node lacks a required argument.
[[nodiscard]] std::optional<Argument> argumentOf(const Node& node, std::string_view parameter);

} // namespace kernelskill::engine::graph
