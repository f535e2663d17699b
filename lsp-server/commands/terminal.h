/// Colour for people, and none for pipes.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace kernelskill::lsp {

enum class Colour : std::uint8_t { Bold, Dim, Red, Green, Yellow, Blue, Cyan };

/// Colours only on a terminal, and not where NO_COLOR is set (https://no-color.org).
class Terminal {
public:
    explicit Terminal(std::FILE* stream);
    [[nodiscard]] std::string paint(Colour colour, std::string_view text) const;
    /// A unified diff with its lines coloured.
    [[nodiscard]] std::string paintDiff(std::string_view diff) const;

private:
    bool hasColour_;
};

} // namespace kernelskill::lsp
