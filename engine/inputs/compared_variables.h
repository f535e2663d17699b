/// Variables of a program that a review compares like buffers.
#pragma once

#include "engine/execution/job.h"
#include "engine/inputs/launch_inference.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The results that either kernel leaves in `__device__` variables which both programs declare.
[[nodiscard]] std::vector<SymbolSpec> comparedVariables(KernelInFile original,
                                                        KernelInFile candidate);

/// The first variable that the candidate's kernel writes and that the original's program does not
/// declare. What one launch leaves there is found by the next.
[[nodiscard]] std::optional<std::string> addedState(KernelInFile original, KernelInFile candidate);

/// `launch` with these variables as outputs.
[[nodiscard]] LaunchSpec withVariables(LaunchSpec launch, const std::vector<SymbolSpec>& variables);

} // namespace kernelskill::engine
