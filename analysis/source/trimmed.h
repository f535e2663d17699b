/// Removes white space around a text.
#pragma once

#include <string_view>

namespace kernelskill::analysis {

/// Blanks, tabs and line ends.
inline constexpr std::string_view whiteSpace = " \t\r\n";

[[nodiscard]] constexpr std::string_view trimmed(std::string_view text,
                                                 std::string_view taken = whiteSpace) {
    const auto begin = text.find_first_not_of(taken);
    if (begin == std::string_view::npos)
        return {};
    return text.substr(begin, text.find_last_not_of(taken) - begin + 1);
}

} // namespace kernelskill::analysis
