/// Finds the sources that include a file, for files that are not compiled by themselves.
#pragma once

#include "analysis/command/compile_command.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// Whether `file` is a header by its name: it is part of what includes it.
[[nodiscard]] bool isHeaderName(const std::filesystem::path& file);

struct IncluderQuery {
    std::filesystem::path file; ///< Absolute.
    std::string_view text;
    /// Nothing outside of it is looked at; nothing is found if it is empty or does not hold `file`.
    std::filesystem::path folder;
    std::vector<std::filesystem::path> listed; ///< Sources of the compilation database.
    /// Contents of open editors.
    const std::map<std::string, std::string>* unsaved = nullptr;
};

struct Includers {
    /// Sources that include the file, directly or through headers, best first: those of the
    /// database, those that launch a kernel of the file, CUDA sources, near ones; the name decides
    /// last.
    std::vector<std::filesystem::path> sources;
    /// The sources but for the chosen one, each with the identifiers of the files that it includes
    /// and the chosen one does not.
    [[nodiscard]] std::vector<OtherIncluder> others(std::size_t chosen) const;

    /// Each source's files: itself and what it includes, without the file that was asked for.
    std::vector<std::vector<std::string>> parts;
    std::map<std::string, std::string> texts; ///< The texts of all parts, by path.
};

/// Searches the database's sources, then the file's folder, the folders below and those above,
/// up to a number of folders, files and bytes. Reads #include lines alone, so what conditions leave
/// out counts as well, and so does a file of the same name that an unknown -I folder could mean.
[[nodiscard]] Includers findIncluders(const IncluderQuery& query);

} // namespace kernelskill::analysis
