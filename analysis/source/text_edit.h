/// Edits of files as data, and their application.
#pragma once

#include "analysis/source/error.h"
#include "analysis/source/source_text.h"

#include <map>
#include <string>
#include <vector>

namespace kernelskill::analysis {

/// Replaces the bytes of `span` by `newText`. An empty span inserts.
struct TextEdit {
    Span span;
    std::string newText;
    bool operator==(const TextEdit&) const = default;
};

/// Edits per file path. Edits of one file refer to its original text and must not overlap; two
/// insertions at one place are applied in the order given.
using EditSet = std::map<std::string, std::vector<TextEdit>>;

/// Applies `edits` to `text`. InvalidInput if two overlap or one reaches past the end.
[[nodiscard]] Result<std::string> applyEdits(std::string_view text, std::vector<TextEdit> edits);

/// Unified diff of two texts with three lines of context; empty when they are equal. `path` names
/// both sides.
[[nodiscard]] std::string unifiedDiff(std::string_view path, std::string_view before,
                                      std::string_view after);

} // namespace kernelskill::analysis
