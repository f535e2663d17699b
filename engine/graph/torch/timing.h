/// How long LibTorch takes for a program, node by node.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/reference/torch_wire.h"
#include "engine/graph/torch/prepared_program.h"

namespace kernelskill::engine::graph {

/// Runs the program as the request says. Inputs and weights are on the device before. On a GPU each
/// round is the time between two events around all of the nodes' kernels, behind a sweep of the L2
/// cache; the time that the CPU takes to start them counts where they do not fill it. Unsupported
/// for a GPU with a LibTorch older than 2.3, whose events give no times.
[[nodiscard]] Result<TorchTiming> timeProgram(const PreparedProgram& program,
                                              const TorchTimingRequest& request);

} // namespace kernelskill::engine::graph
