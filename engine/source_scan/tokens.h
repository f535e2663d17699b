/// The tokens of a C++ text, without preprocessing it: enough to find declarations, launches and
/// pins in code that no compiler has to accept. Never fails; what is not understood is punctuation.
#pragma once

#include "analysis/source/source_text.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

enum class TokenKind : std::uint8_t {
    Identifier,
    Number,
    String, ///< With prefix and delimiters; raw strings as one token.
    Character,
    Punctuation, ///< "<<<", ">>>", "::", "->", "##" and the two- and three-character operators are
                 ///< one token.
    Directive,   ///< A whole preprocessor line, continuations included, without its line end.
};

struct Token {
    TokenKind kind = TokenKind::Punctuation;
    analysis::Span span;
    std::string_view text; ///< Into the scanned text.

    [[nodiscard]] bool is(std::string_view spelling) const {
        return text == spelling &&
               (kind == TokenKind::Punctuation || kind == TokenKind::Identifier);
    }
    [[nodiscard]] bool isIdentifier() const { return kind == TokenKind::Identifier; }
};

/// Comments are left out; `text` must outlive the tokens.
[[nodiscard]] std::vector<Token> tokenize(std::string_view text);

/// A comment, delimiters included.
struct Comment {
    analysis::Span span;
    std::string_view text;
};
[[nodiscard]] std::vector<Comment> findComments(std::string_view text);

/// Index of the bracket that closes tokens[open] ("(", "[" or "{"), or tokens.size() when none
/// does. ">>>" and "<<<" do not nest.
[[nodiscard]] std::size_t matchingClose(const std::vector<Token>& tokens, std::size_t open);

/// If tokens[open] is "<" and opens a template argument list, the index of its ">" (a ">>" that
/// closes two lists counts for the outer as well); else `open`.
[[nodiscard]] std::size_t matchingAngle(const std::vector<Token>& tokens, std::size_t open);
/// The same for the '<' behind `template`, whose default arguments may hold && and ||.
[[nodiscard]] std::size_t templateHeadEnd(const std::vector<Token>& tokens, std::size_t open);

} // namespace kernelskill::engine
