/// Short-term memory as the editor asks for it.
#pragma once

#include "analysis/source/error.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>

namespace kernelskill::lsp {

/// {file, entries, problems} of a file: kernelskill/memory and `memory show --json`.
[[nodiscard]] Result<nlohmann::json> memoryReport(const std::filesystem::path& workspaceRoot,
                                                  const std::filesystem::path& file);

} // namespace kernelskill::lsp
