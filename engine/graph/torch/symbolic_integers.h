/// The arithmetic on extents that a program does while it runs: "_operator.floordiv".
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"
#include "engine/graph/torch/values.h"

#include <cstdint>
#include <string_view>

namespace kernelskill::engine::graph {

[[nodiscard]] bool isSymbolicArithmetic(std::string_view target);

/// The result of such a node. InvalidInput if an operand has no value, 63 bits do not do, or a
/// divisor is 0.
[[nodiscard]] Result<std::int64_t> computeSymbolic(const Node& node, const Values& values);

} // namespace kernelskill::engine::graph
