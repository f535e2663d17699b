/// PTX as a sequence of statements, without a look at what they mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

struct PtxStatement {
    enum class Kind : std::uint8_t {
        Instruction, ///< Or a declaration: all that ends in a semicolon.
        Line,        ///< ".loc", ".file" and the like, which end with their line.
        Header,      ///< Of a function or a section: what stands before its brace.
        Label,       ///< Without its colon.
        Open,
        Close,
    };
    Kind kind = Kind::Instruction;
    std::string text; ///< On one line, single blanks, no comments, without semicolon or brace.
    std::uint32_t line = 0; ///< Where it begins, zero-based.
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
    std::uint32_t depth_ = 0; ///< Of braces.
};

} // namespace kernelskill::engine
