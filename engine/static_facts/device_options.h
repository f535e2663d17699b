/// Translates nvcc's flags, as far as they change a kernel's machine code.
#pragma once

#include "analysis/command/compile_command.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Options in NVRTC's spelling, without the architecture.
[[nodiscard]] std::vector<std::string>
nvrtcOptions(const analysis::CompileCommand& command,
             const std::vector<std::filesystem::path>& toolkitFolders);

/// Options for nvcc to make a cubin and ptxas's report, without architecture and files.
[[nodiscard]] std::vector<std::string> nvccOptions(const analysis::CompileCommand& command);

} // namespace kernelskill::engine
