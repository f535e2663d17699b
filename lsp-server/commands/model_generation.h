/// `kernelskill generate` for PyTorch programs.
#pragma once

#include "lsp-server/commands/command_line.h"

#include <string>
#include <vector>

namespace kernelskill::lsp {

/// The options of a model.
struct ModelGeneration {
    std::string folder;
    std::string precision = "float32";
    std::string tolerance = "1e-2"; ///< Where libraries are allowed.
    bool usesLibraries = false;
    bool isChannelsLast = false;      ///< Images are in that order for convolutions of libraries.
    int seconds = 60;                 ///< To measure; 0: nothing is measured.
    int jobs = 0;                     ///< Compilers at once to measure; 0: one a core.
    std::vector<std::string> without; ///< Names of simplifications that are not used.
    bool withoutCheck = false;
};

/// Adds the options that only models have. `wanted` gets their values.
void addModelOptions(CliCommand& command, ModelGeneration& wanted);

/// Whether the name is that of an archive of torch.export.save.
[[nodiscard]] bool isProgramArchive(const std::string& file);

/// Checks the model's kernels on the emulator, writes its folder unless they differ from LibTorch,
/// and prints them. Returns the exit status.
[[nodiscard]] int generateModel(const std::string& archive, const ModelGeneration& wanted,
                                const Invocation& invocation);

} // namespace kernelskill::lsp
