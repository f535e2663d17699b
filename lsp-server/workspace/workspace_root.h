/// The workspace that a file on the command line belongs to.
#pragma once

#include <filesystem>

namespace kernelskill::lsp {

/// The folder whose `.kernelskill/` serves `file`: the nearest one above that has one or is a
/// repository, else the current folder if it holds the file, else the file's own. The home folder,
/// and a folder that any user may write to (/tmp), count only for the files directly in them.
[[nodiscard]] std::filesystem::path workspaceRootOf(const std::filesystem::path& file);

/// The same of a file in the current folder.
[[nodiscard]] std::filesystem::path currentWorkspaceRoot();

} // namespace kernelskill::lsp
