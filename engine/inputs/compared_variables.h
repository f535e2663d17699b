/// Variables of a program that a review compares like buffers.
#pragma once

#include "engine/execution/job.h"
#include "engine/inputs/launch_inference.h"

#include <vector>

namespace kernelskill::engine {

/// The results that either kernel leaves in `__device__` variables which both programs declare.
[[nodiscard]] std::vector<SymbolSpec> comparedVariables(KernelInFile original,
                                                        KernelInFile candidate);

/// `launch` with these variables as outputs.
[[nodiscard]] LaunchSpec withVariables(LaunchSpec launch, const std::vector<SymbolSpec>& variables);

} // namespace kernelskill::engine
