/// Splitting command lines into words the way a POSIX shell and nvcc's option files do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// Words of `text`: quotes group, a backslash takes the next character as it is. An unclosed quote
/// ends with the text.
[[nodiscard]] std::vector<std::string> splitShellWords(std::string_view text);

/// Values of an nvcc option that takes a list: split at commas outside quotes, quotes dropped, "\,"
/// is a comma.
[[nodiscard]] std::vector<std::string> splitOptionList(std::string_view text);

} // namespace kernelskill::analysis
