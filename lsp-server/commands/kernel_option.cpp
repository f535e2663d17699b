#include "lsp-server/commands/kernel_option.h"

#include "lsp-server/commands/command_line.h"

#include <utility>

namespace kernelskill::lsp {

void addKernelArguments(CliCommand& command, KernelArguments& target,
                        const std::string& byDefault) {
    command.option(&target.place, {.name = "FILE",
                                   .help = "The CUDA file, or FILE:LINE for the kernel there",
                                   .required = true});
    command.option(&target.kernel, {.name = "--kernel",
                                    .placeholder = "NAME",
                                    .help = "The kernel; " + byDefault,
                                    .check = missingName});
}

Result<OpenedPlace> openPlace(const KernelArguments& arguments, const Options& options) {
    auto place = parseFilePlace(arguments.place);
    if (!place)
        return std::unexpected(place.error());
    auto snapshot = openInput(place->file, options);
    if (!snapshot)
        return std::unexpected(snapshot.error());
    return OpenedPlace{std::move(*place), std::move(*snapshot), arguments.kernel};
}

} // namespace kernelskill::lsp
