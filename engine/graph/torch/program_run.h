/// One run of a program, with its results as data.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/reference/torch_wire.h"
#include "engine/graph/torch/prepared_program.h"

namespace kernelskill::engine::graph {

/// The program's outputs, and the tensors to be kept. InvalidInput if a value to be kept is none of
/// the program's; Failed, with the node, if an operator fails.
[[nodiscard]] Result<TorchRun> runProgram(const PreparedProgram& program, const KeptValues& kept);

} // namespace kernelskill::engine::graph
