/// Short-term memory as the editor asks for it.
#pragma once

#include "engine/memory/short_term_memory.h"
#include "lsp-server/documents/snapshot.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <vector>

namespace kernelskill::lsp {

[[nodiscard]] engine::ShortTermMemory memoryOf(const Snapshot& snapshot);
/// {file, entries, problems} of a file: kernelskill/memory and `memory show --json`.
[[nodiscard]] Result<nlohmann::json> memoryReport(const std::filesystem::path& workspaceRoot,
                                                  const std::filesystem::path& file);

} // namespace kernelskill::lsp
