/// Guesses -I folders and -D macros for a file without a compile command.
#pragma once

#include "analysis/command/compile_command.h"

#include <filesystem>

namespace kernelskill::analysis {

/// Adds to `command.includeDirs` the folders around `file` that contain the headers which it
/// includes directly or indirectly: include/, inc/, common/, ... next to it and to its parents, up
/// to `workspaceRoot` or a repository's root. The numbers of visited folders and files are limited.
/// Folders that contribute no header are not added. Adds to `command.definitions` the macros that
/// these headers ask for, see neededMacros().
void inferFlags(const std::filesystem::path& file, const std::filesystem::path& workspaceRoot,
                CompileCommand& command);

} // namespace kernelskill::analysis
