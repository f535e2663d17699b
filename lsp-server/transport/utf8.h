/// UTF-8 as it arrives: not always valid.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kernelskill::lsp {

/// Bytes of the valid UTF-8 sequence at the start of `text`; 0 when there is none.
[[nodiscard]] std::size_t utf8SequenceLength(std::string_view text);
/// The number of characters, of which each byte that belongs to no valid sequence is one.
[[nodiscard]] std::size_t charactersOf(std::string_view text);
[[nodiscard]] bool isValidUtf8(std::string_view text);
/// Each byte that belongs to no valid sequence becomes U+FFFD.
[[nodiscard]] std::string replaceInvalidUtf8(std::string_view text);

} // namespace kernelskill::lsp
