/// Writes a PyTorch program as `kernelskill graph` prints it, see docs/graph.md.
#pragma once

#include "engine/graph/program.h"

#include <string>

namespace kernelskill::lsp {

/// Symbols, inputs, outputs, the sum of the weights, a line for each node, and what later stages
/// cannot take. Names have no control characters.
[[nodiscard]] std::string programText(const engine::graph::Program& program,
                                      const std::string& file);

} // namespace kernelskill::lsp
