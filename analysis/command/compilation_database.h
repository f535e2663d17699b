/// Reads compile_commands.json and compile_flags.txt.
#pragma once

#include "analysis/command/compile_command.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::analysis {

struct DatabaseEntry {
    std::filesystem::path directory;
    std::filesystem::path file;         ///< Absolute.
    std::vector<std::string> arguments; ///< Without the program's name.
};

/// InvalidInput with file and line if `path` is not a compilation database. Entries without a file
/// or a command are left out.
[[nodiscard]] Result<std::vector<DatabaseEntry>>
readCompilationDatabase(const std::filesystem::path& path);

/// The entry of `file`. For a header, or a file that is not listed, the closest entry: with the
/// same stem, then in the same folder, then with the longest common path, CUDA sources first.
/// nullptr if there is no entry at all.
[[nodiscard]] const DatabaseEntry* entryFor(const std::vector<DatabaseEntry>& entries,
                                            const std::filesystem::path& file);

/// Reads one argument per line.
[[nodiscard]] Result<std::vector<std::string>> readFlagsFile(const std::filesystem::path& path);

} // namespace kernelskill::analysis
