/// A file as it lies on the disk, parsed: for questions about files that no editor has open.
#pragma once

#include "lsp-server/documents/snapshot.h"

namespace kernelskill::lsp {

/// The text of a file on the disk. InvalidInput where it is no text or cannot be read.
[[nodiscard]] Result<std::string> readText(const std::filesystem::path& path);

/// Reads and parses `file`, once. InvalidInput where it is no text or cannot be read.
[[nodiscard]] Result<SnapshotPtr> readDocument(const std::filesystem::path& file,
                                               const std::filesystem::path& workspaceRoot,
                                               std::shared_ptr<const engine::Workbench> workbench,
                                               const analysis::CompileCommands& commands);

} // namespace kernelskill::lsp
