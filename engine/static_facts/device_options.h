/// nvcc's flags, as far as they change what a kernel compiles to.
#pragma once

#include "analysis/command/compile_command.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// As NVRTC spells them; all but the architecture.
[[nodiscard]] std::vector<std::string>
nvrtcOptions(const analysis::CompileCommand& command,
             const std::vector<std::filesystem::path>& toolkitFolders);

/// As nvcc does, for a cubin and ptxas's report; all but the architecture and the files.
[[nodiscard]] std::vector<std::string> nvccOptions(const analysis::CompileCommand& command);

} // namespace kernelskill::engine
