/// `kernelskill profile` of a whole program.
#pragma once

#include "lsp-server/commands/command_line.h"

#include <cstdint>
#include <string>

namespace kernelskill::lsp {

struct ProgramProfileArguments {
    std::string
        program; ///< The name of one of the workspace's programs; empty: the words behind `--`.
    std::string kernel;   ///< Details of this kernel alone; empty: of all hot ones.
    std::string executor; ///< "emulator", "gpu", "slurm"; empty: the GPU if there is one.
    bool noDetails = false;
    std::uint64_t maxKernels = 20;
};

/// Runs the program once for the times of its kernels, and once more to capture launches of those
/// whose details are wanted. Returns the exit status.
[[nodiscard]] int profileProgram(const ProgramProfileArguments& arguments,
                                 const Invocation& invocation);

} // namespace kernelskill::lsp
