/// Edits carried out on disk.
#pragma once

#include "analysis/source/text_edit.h"
#include "lsp-server/documents/text_lookup.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace kernelskill::lsp {

/// Writes a file, or replaces its contents in one step: either the old or the new text is there,
/// never half of one.
[[nodiscard]] Result<void> replaceFile(const std::filesystem::path& path, std::string_view text);

struct FileChange {
    std::string before;
    std::string after;
    bool operator==(const FileChange&) const = default;
};

/// Replaces the texts of all files. InvalidInput, and nothing is written, when one of them does not
/// have the text `before`.
[[nodiscard]] Result<void> replaceFiles(const std::map<std::filesystem::path, FileChange>& changes);

/// Applies edits that refer to `texts` to the files on disk, as replaceFiles().
[[nodiscard]] Result<void> writeEdits(const analysis::EditSet& edits, TextLookup& texts);

} // namespace kernelskill::lsp
