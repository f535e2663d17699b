/// Words of a source text: where one stands, and which one a statement starts with.
#pragma once

#include "analysis/source/source_text.h"

#include <initializer_list>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// Every place where `text` has `word` as a whole identifier, in comments and literals too.
[[nodiscard]] std::vector<Span> occurrences(std::string_view text, std::string_view word);

/// True if the statement starts with one of these keywords in the file itself: its head does not
/// come out of a macro.
[[nodiscard]] bool isWrittenAs(const SourceText& source, Span statement,
                               std::initializer_list<std::string_view> keywords);

} // namespace kernelskill::analysis
