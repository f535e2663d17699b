/// Types and arguments of programs as text.
#pragma once

#include "engine/graph/program.h"

#include <string>

namespace kernelskill::engine::graph {

/// "float32[s77, 96]"; a single number is "float32[]".
[[nodiscard]] std::string textOf(const TensorType& type);

/// "96", "s77".
[[nodiscard]] std::string textOf(const Extent& extent);

/// "x", "[1, 1]", "None", "'none'", "float32", "graph true_graph_0".
[[nodiscard]] std::string textOf(const Argument& argument);

/// The text with a question mark for each control character: names of archives are shown on
/// terminals.
[[nodiscard]] std::string printable(std::string text);

} // namespace kernelskill::engine::graph
