/// Splits PTX into statements without interpreting them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

struct PtxStatement {
    enum class Kind : std::uint8_t {
        Instruction, ///< Or a declaration: everything that ends in a semicolon.
        Line,        ///< ".loc", ".file" and similar, which end with their line.
        Header,      ///< The text before the brace of a function or section.
        Label,       ///< Without its colon.
        Open,
        Close,
    };
    Kind kind = Kind::Instruction;
    std::string text; ///< On one line, with single blanks, without comments, semicolon and brace.
    std::uint32_t line = 0; ///< The zero-based line where it begins.
};

class PtxScanner {
public:
    explicit PtxScanner(std::string_view text) : text_(text) {}
    /// nullopt at the end.
    [[nodiscard]] std::optional<PtxStatement> next();

private:
    void skipBlank();
    [[nodiscard]] bool skipComment();
    void advance();
    [[nodiscard]] PtxStatement restOfLine();
    [[nodiscard]] PtxStatement statement();

    std::string_view text_;
    std::size_t at_ = 0;
    std::uint32_t line_ = 0;
    std::uint32_t depth_ = 0; ///< Depth of braces.
};

} // namespace kernelskill::engine
