/// Edits of files as data, and functions that apply them.
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

/// Edits by file path. They refer to the file's original text and must not overlap. Two insertions
/// at one place are applied in the given order.
using EditSet = std::map<std::string, std::vector<TextEdit>>;

/// Applies `edits` to `text`. InvalidInput if two overlap or one exceeds the text.
[[nodiscard]] Result<std::string> applyEdits(std::string_view text, std::vector<TextEdit> edits);

/// Edits of `text` that do what `first` does to it and `second` to the result. InvalidInput as of
/// applyEdits().
[[nodiscard]] Result<std::vector<TextEdit>>
composedEdits(std::string_view text, std::vector<TextEdit> first, std::vector<TextEdit> second);

/// The part of the text before `edits` that `span` of the text behind them comes from. A place in
/// new text comes from all that the new text replaces.
[[nodiscard]] Span spanBefore(std::vector<TextEdit> edits, Span span);

/// A unified diff of two texts with three lines of context; empty if they are equal. `path` names
/// both sides.
[[nodiscard]] std::string unifiedDiff(std::string_view path, std::string_view before,
                                      std::string_view after);

} // namespace kernelskill::analysis
