/// Finds the user's files: the main file or the source that it is read through, and its includes,
/// without system and toolkit headers.
#pragma once

#include "analysis/scan/declarations.h"
#include "engine/execution/program_source.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// An #include of a user file.
struct IncludeLine {
    analysis::Span span; ///< The directive.
    /// `<cmath>` or `"util.h"` with delimiters; empty if a macro names the file.
    std::string spelling;
    std::filesystem::path resolved; ///< The user file that it includes; empty for other headers.
};

struct UserFile {
    std::filesystem::path path; ///< Absolute, normalised.
    std::string text;
    std::vector<IncludeLine> includes;
};

/// The file that the compiler is called with comes first: the command's includer if it has one,
/// else the main file. Contents of open editors replace those on disk. Files that cannot be read
/// are left out.
[[nodiscard]] std::vector<UserFile> collectUserFiles(const ProgramSource& program,
                                                     const std::filesystem::path& preludeInclude);

} // namespace kernelskill::engine
