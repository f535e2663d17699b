/// Guesses -I folders for a file without a compile command.
#pragma once

#include "analysis/command/compile_command.h"

#include <filesystem>

namespace kernelskill::analysis {

/// Adds to `command.includeDirs` the folders around `file` in which the headers it names, and those
/// that they name, really lie: include/, inc/, common/, ... beside it and beside its parents, up to
/// `workspaceRoot` or a repository's root. Bounded in folders and files looked at. Folders that
/// supply nothing are not added.
void inferIncludeDirs(const std::filesystem::path& file, const std::filesystem::path& workspaceRoot,
                      CompileCommand& command);

} // namespace kernelskill::analysis
