/// Times several generated models of one program next to each other.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"
#include "engine/graph/reference/heat.h"

#include <memory>

namespace kernelskill::engine::graph {

/// The models compute on the same made-up inputs and weights, on a stream that is not the default
/// one. One whose results are far from LibTorch's, or that fails, is not timed. Then they take
/// turns, the L2 cache swept before each round, and each round begins with another one. The archive
/// of the request is not looked at; the libraries stay loaded. Errors are those of PreparedProgram,
/// and any error that the device may not recover from: then the process should end.
[[nodiscard]] Result<TorchHeat> runHeat(const std::shared_ptr<const Program>& program,
                                        const TorchHeatRequest& request);

} // namespace kernelskill::engine::graph
