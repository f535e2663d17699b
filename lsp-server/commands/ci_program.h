/// `kernelskill ci` of a whole program.
#pragma once

#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/regression_output.h"

namespace kernelskill::lsp {

/// Runs the program several times and compares the times of its kernels with the baseline's; on the
/// emulator, runs it once and compares counts. Returns the exit status.
[[nodiscard]] int runProgramCi(const CiArguments& arguments, const Invocation& invocation);

} // namespace kernelskill::lsp
