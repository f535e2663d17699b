/// A kernel together with the program that it is part of.
#pragma once

#include "engine/execution/program_source.h"

namespace kernelskill::engine {

/// The program's model is set and holds the kernel. Both outlive the reference.
struct KernelRef {
    const ProgramSource& program;
    const analysis::KernelModel& kernel;

    [[nodiscard]] const analysis::FileModel& file() const { return *program.model; }
};

/// InvalidInput for a kernel of a program that the user does not trust.
[[nodiscard]] inline Result<void> requireTrust(KernelRef kernel) {
    if (kernel.program.isTrusted)
        return {};
    return std::unexpected(Error{ErrorKind::InvalidInput,
                                 "the folder is not trusted, so its kernels are neither compiled "
                                 "nor run",
                                 kernel.program.file,
                                 "trust it in the editor, or with `kernelskill trust FOLDER`"});
}

} // namespace kernelskill::engine
