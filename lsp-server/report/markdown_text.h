/// Sentences of ours in Markdown.
#pragma once

#include <string>
#include <string_view>

namespace kernelskill::lsp {

/// `sentence` with its code in backticks, so that Markdown shows each character of it: "tile is
/// indexed by 32*threadIdx.x + threadIdx.y" would lose its `*`. Code is a word that holds a
/// character to which Markdown gives a meaning, with the operators and words that it is joined to.
/// Text that is in backticks already is left alone.
[[nodiscard]] std::string markdownText(std::string_view sentence);

} // namespace kernelskill::lsp
