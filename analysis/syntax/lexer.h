/// A tolerant C++ lexer over raw text: it finds tokens without a parser and without preprocessing,
/// also in code that no compiler accepts.
#pragma once

#include "analysis/source/source_text.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

enum class TokenKind : std::uint8_t {
    Identifier, ///< Keywords too.
    Number,
    String, ///< With prefix and delimiters; a raw string is one token.
    Character,
    Punctuator, ///< The longest operator, except that '>' never joins with a following '>'.
    Directive,  ///< A preprocessor line with its continuation lines, without line end and `//`.
};

struct Token {
    TokenKind kind = TokenKind::Punctuator;
    Span span;
    std::string_view text; ///< Lives as long as the lexed text.

    /// True for an identifier or a punctuator that is spelled so.
    [[nodiscard]] bool is(std::string_view spelling) const {
        return text == spelling && (kind == TokenKind::Punctuator || isIdentifier());
    }
    [[nodiscard]] bool isIdentifier() const { return kind == TokenKind::Identifier; }
};

/// Tokens of `text` within `range`, comments and white space dropped. Never fails: an unterminated
/// literal ends with its line, an unknown byte is a punctuator of its own. "<<<" and ">>>" are
/// tokens when they can be, also where white space breaks those of a launch: `<< <` and `>> >`.
[[nodiscard]] std::vector<Token> lex(std::string_view text, Span range);
[[nodiscard]] std::vector<Token> lex(std::string_view text);

/// The tokens of `text` within `range`, each followed by a space: equal for texts that differ in
/// comments and white space only.
[[nodiscard]] std::string tokenText(std::string_view text, Span range);
[[nodiscard]] std::string tokenText(std::string_view text);

/// A comment with its delimiters.
struct Comment {
    Span span;
    std::string_view text; ///< Lives as long as the scanned text.
};

/// Comments of `text` outside of literals, in order.
[[nodiscard]] std::vector<Comment> findComments(std::string_view text);

/// First offset at or after `offset` that is neither white space nor inside a comment; the text's
/// size at its end.
[[nodiscard]] std::uint32_t skipTrivia(std::string_view text, std::uint32_t offset);

/// True if tokens[at] and the token behind it are the two halves of a `>>`.
[[nodiscard]] bool isShiftRight(const std::vector<Token>& tokens, std::size_t at);

/// Index of the token that closes the bracket at `open` ("(", "[" or "{"); tokens.size() when it is
/// not closed. "<<<" and ">>>" are no brackets here.
[[nodiscard]] std::size_t matchingBracket(const std::vector<Token>& tokens, std::size_t open);

/// Index of the ">" that closes the template argument list which the "<" at `open` opens; `open`
/// when that "<" opens none. A ">>>" may close up to three lists.
[[nodiscard]] std::size_t matchingAngle(const std::vector<Token>& tokens, std::size_t open);
/// The same for the "<" behind `template`, whose default arguments may hold && and ||.
[[nodiscard]] std::size_t templateHeadEnd(const std::vector<Token>& tokens, std::size_t open);
/// Index of the "<" that opens the list which the ">" at `close` closes; 0 when there is none.
[[nodiscard]] std::size_t openingAngle(const std::vector<Token>& tokens, std::size_t close);

} // namespace kernelskill::analysis
