/// Whether a program can run as it is written: every stage after the reader relies on that.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"

#include <string>

namespace kernelskill::engine::graph {

/// InvalidInput, with `where` and the node, unless
/// - targets are spelled as operators ("aten.add.Tensor"),
/// - what a node reads is an input or a result of a node before it,
/// - values are defined once, and have a type,
/// - an operator of operators.h has as many results as its schema tells,
/// - outputs are defined.
[[nodiscard]] Result<void> checkProgram(const Program& program, const std::string& where);

/// "node 'linear' (aten.linear.default, module layers.0)"
[[nodiscard]] std::string describe(const Node& node);

} // namespace kernelskill::engine::graph
