/// compile_commands.json and compile_flags.txt.
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

/// InvalidInput with file and line when `path` is not a compilation database. Entries without a
/// file or a command are left out.
[[nodiscard]] Result<std::vector<DatabaseEntry>>
readCompilationDatabase(const std::filesystem::path& path);

/// The entry of `file`; for a header, or a file that is not listed, the closest one: same stem,
/// then same folder, then the most common path, CUDA sources first. nullptr when there is none to
/// go by.
[[nodiscard]] const DatabaseEntry* entryFor(const std::vector<DatabaseEntry>& entries,
                                            const std::filesystem::path& file);

/// One argument a line.
[[nodiscard]] Result<std::vector<std::string>> readFlagsFile(const std::filesystem::path& path);

} // namespace kernelskill::analysis
