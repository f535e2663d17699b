/// Splits command lines into words as a POSIX shell and nvcc's option files do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// The words of `text`. Quotes group; a backslash escapes the next character. An unclosed quote
/// ends with the text.
[[nodiscard]] std::vector<std::string> splitShellWords(std::string_view text);

/// The values of an nvcc option that takes a list: split at commas outside quotes, without quotes.
/// "\," is a comma.
[[nodiscard]] std::vector<std::string> splitOptionList(std::string_view text);

} // namespace kernelskill::analysis
