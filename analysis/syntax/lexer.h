/// A tolerant C++ lexer over raw text: enough to find tokens between syntax nodes without asking
/// clang.
#pragma once

#include "analysis/source/source_text.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

enum class TokenKind : std::uint8_t {
    Identifier, ///< Keywords too.
    Number,
    String, ///< Raw strings and prefixes too.
    Character,
    Punctuator, ///< The longest operator, except that '>' never joins with a following '>'.
    Directive,  ///< A whole preprocessor line, continuation lines included.
};

struct Token {
    TokenKind kind = TokenKind::Punctuator;
    Span span;
    std::string_view text; ///< Lives as long as the lexed text.
};

/// Tokens of `text` within `range`, comments and white space dropped. Never fails: an unterminated
/// literal ends with its line, an unknown byte is a punctuator of its own. "<<<" and ">>>" are
/// tokens when they can be.
[[nodiscard]] std::vector<Token> lex(std::string_view text, Span range);
[[nodiscard]] std::vector<Token> lex(std::string_view text);

/// First offset at or after `offset` that is neither white space nor inside a comment; the text's
/// size at its end.
[[nodiscard]] std::uint32_t skipTrivia(std::string_view text, std::uint32_t offset);

/// Index of the token that closes the bracket at `open` ("(", "[" or "{"); tokens.size() when it is
/// not closed.
[[nodiscard]] std::size_t matchingBracket(const std::vector<Token>& tokens, std::size_t open);

} // namespace kernelskill::analysis
