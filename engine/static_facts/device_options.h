/// nvcc's flags, as far as they change what a kernel compiles to, as NVRTC spells them.
#pragma once

#include "analysis/parse/compile_command.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// All but the architecture.
[[nodiscard]] std::vector<std::string>
deviceOptions(const analysis::CompileCommand& command,
              const std::vector<std::filesystem::path>& toolkitFolders);

} // namespace kernelskill::engine
