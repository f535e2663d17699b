/// The files that are the user's: the main file and what it includes, system and toolkit headers
/// left out.
#pragma once

#include "analysis/scan/declarations.h"
#include "engine/execution/executor.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// An #include of a user file.
struct IncludeLine {
    analysis::Span span;  ///< The directive.
    std::string spelling; ///< `<cmath>` or `"util.h"`, delimiters included; empty when a macro
                          ///< names the file.
    std::filesystem::path resolved; ///< The user file it reaches; empty for any other.
};

struct UserFile {
    std::filesystem::path path; ///< Absolute, normalised.
    std::string text;
    std::vector<IncludeLine> includes;
};

/// The main file first. Contents of open editors win over the disk. Files that cannot be read are
/// left out.
[[nodiscard]] std::vector<UserFile> collectUserFiles(const ProgramSource& program,
                                                     const std::filesystem::path& preludeInclude);

} // namespace kernelskill::engine
