/// The arguments FILE[:LINE] and --kernel of commands that look at kernels.
#pragma once

#include "lsp-server/commands/cli_command.h"
#include "lsp-server/commands/input_file.h"

#include <string>

namespace kernelskill::lsp {

struct KernelArguments {
    std::string place;
    std::string kernel;
};

/// `byDefault`, for help: "the first one by default".
void addKernelArguments(CliCommand& command, KernelArguments& target, const std::string& byDefault);

/// The file that the arguments name.
struct OpenedPlace {
    FilePlace place;
    SnapshotPtr snapshot;
    std::string kernel; ///< As in the arguments; may be empty.

    /// Whether the arguments tell which kernel of the file is meant.
    [[nodiscard]] bool namesKernel() const { return !kernel.empty() || place.line.has_value(); }
    /// See chooseKernel().
    [[nodiscard]] Result<const analysis::KernelModel*> chosen() const {
        return chooseKernel(*snapshot, kernel, place.line);
    }
};

/// Errors as those of parseFilePlace() and openInput().
[[nodiscard]] Result<OpenedPlace> openPlace(const KernelArguments& arguments,
                                            const Options& options);

} // namespace kernelskill::lsp
