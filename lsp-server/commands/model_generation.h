/// `kernelskill generate` for PyTorch programs.
#pragma once

#include "lsp-server/commands/command_line.h"

#include <string>

namespace kernelskill::lsp {

struct ModelGeneration {
    std::string archive;
    std::string folder;
    bool usesLibraries = false;
    std::string precision; ///< "float32", "tf32x3" or "tf32"; empty: float32.
};

/// Whether the name is that of an archive of torch.export.save.
[[nodiscard]] bool isProgramArchive(const std::string& file);

/// Writes the model's folder, and prints its kernels. Returns the exit status.
[[nodiscard]] int generateModel(const ModelGeneration& wanted, const Invocation& invocation);

} // namespace kernelskill::lsp
