/// Numbers that a text is.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace kernelskill::analysis {

/// The decimal number that the whole text is, with a sign if it has one; nullopt for anything else,
/// a suffix and a space included.
[[nodiscard]] inline std::optional<std::int64_t> decimalIn(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                    : std::nullopt;
}

} // namespace kernelskill::analysis
