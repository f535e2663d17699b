/// Edits carried out on disk.
#pragma once

#include "analysis/source/text_edit.h"
#include "lsp-server/documents/text_lookup.h"

#include <filesystem>
#include <string_view>

namespace kernelskill::lsp {

/// Writes a file, or replaces its contents in one step: either the old or the new text is there,
/// never half of one.
[[nodiscard]] Result<void> replaceFile(const std::filesystem::path& path, std::string_view text);

/// Applies edits that refer to `texts` to the files on disk. InvalidInput when a file has changed
/// since.
[[nodiscard]] Result<void> writeEdits(const analysis::EditSet& edits, TextLookup& texts);

} // namespace kernelskill::lsp
