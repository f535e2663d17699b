/// Types and arguments of programs as text.
#pragma once

#include "engine/graph/program.h"

#include <string>

namespace kernelskill::engine::graph {

/// "float32[s77, 96]"; a single number is "float32[]".
[[nodiscard]] std::string textOf(const TensorType& type);

/// "96", "s77"; one that depends on data has its expression, too.
[[nodiscard]] std::string textOf(const Extent& extent);

/// "x", "[1, 1]", "None", "'none'", "float32", "graph true_graph_0".
[[nodiscard]] std::string textOf(const Argument& argument);

} // namespace kernelskill::engine::graph
