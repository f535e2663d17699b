#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <array>

namespace kernelskill::analysis {

namespace {

constexpr std::uint8_t identifierStart = 1;
constexpr std::uint8_t digit = 2;
constexpr std::uint8_t space = 4;
constexpr std::uint8_t longOperator = 8; ///< Begins an operator of several characters.

/// Of each byte. Every byte of a multi-byte UTF-8 character may be part of an identifier.
constexpr std::array<std::uint8_t, 256> characterClasses = [] {
    std::array<std::uint8_t, 256> classes{};
    for (unsigned c = 0; c < classes.size(); ++c) {
        const bool isLetter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (isLetter || c == '_' || c == '$' || c >= 0x80)
            classes[c] |= identifierStart;
        if (c >= '0' && c <= '9')
            classes[c] |= digit;
    }
    for (const unsigned char c : std::string_view(" \t\n\v\f\r"))
        classes[c] |= space;
    for (const unsigned char c : std::string_view("<>.-:+=!&|*/%^#"))
        classes[c] |= longOperator;
    return classes;
}();

bool is(char c, unsigned classes) {
    return (characterClasses[static_cast<unsigned char>(c)] & classes) != 0;
}

bool isIdentifierStart(char c) {
    return is(c, identifierStart);
}

bool isIdentifierPart(char c) {
    return is(c, identifierStart | digit);
}

bool isDigit(char c) {
    return is(c, digit);
}

/// Longest first.
constexpr std::array<std::string_view, 27> operators = {
    "<<<", ">>>", "<<=", ">>=", "...", "<=>", "->*", "::", "->", "++", "--", "<<", "<=", ">=",
    "==",  "!=",  "&&",  "||",  "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "##"};

class Lexer {
public:
    Lexer(std::string_view text, Span range)
        : text_(text.substr(0, std::min<std::size_t>(range.end, text.size()))),
          position_(
              std::min<std::uint32_t>(range.begin, static_cast<std::uint32_t>(text_.size()))) {}

    std::vector<Token> run() {
        std::vector<Token> tokens;
        bool lineStart = position_ == 0;
        while (true) {
            const std::uint32_t begin = position_;
            position_ = skipTrivia(text_, position_);
            lineStart = lineStart || text_.substr(begin, position_ - begin).contains('\n');
            if (position_ >= text_.size())
                return tokens;
            tokens.push_back(next(lineStart));
            lineStart = false;
        }
    }

private:
    [[nodiscard]] char at(std::size_t offset) const {
        return offset < text_.size() ? text_[offset] : '\0';
    }

    Token token(TokenKind kind, std::size_t end) {
        const Span span{position_, static_cast<std::uint32_t>(std::min(end, text_.size()))};
        position_ = span.end;
        return {kind, span, text_.substr(span.begin, span.size())};
    }

    Token next(bool lineStart) {
        const char c = at(position_);
        if (c == '#' && lineStart)
            return token(TokenKind::Directive, directiveEnd());
        if (isDigit(c) || (c == '.' && isDigit(at(position_ + 1))))
            return token(TokenKind::Number, numberEnd());
        if (c == '"')
            return token(TokenKind::String, literalEnd(position_, '"'));
        if (c == '\'')
            return token(TokenKind::Character, literalEnd(position_, '\''));
        if (isIdentifierStart(c))
            return identifierOrLiteral();
        if (is(c, longOperator))
            for (const std::string_view op : operators)
                if (op.front() == c && text_.substr(position_).starts_with(op))
                    return token(TokenKind::Punctuator, position_ + op.size());
        return token(TokenKind::Punctuator, position_ + 1);
    }

    Token identifierOrLiteral() {
        std::size_t end = position_;
        while (isIdentifierPart(at(end)))
            ++end;
        if (at(end) != '"' && at(end) != '\'')
            return token(TokenKind::Identifier, end);
        const std::string_view word = text_.substr(position_, end - position_);
        const bool prefix = word == "L" || word == "u" || word == "U" || word == "u8";
        const bool rawPrefix =
            word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
        if (rawPrefix && at(end) == '"')
            return token(TokenKind::String, rawStringEnd(end));
        if (prefix && at(end) == '"')
            return token(TokenKind::String, literalEnd(end, '"'));
        if (prefix && at(end) == '\'')
            return token(TokenKind::Character, literalEnd(end, '\''));
        return token(TokenKind::Identifier, end);
    }

    [[nodiscard]] std::size_t directiveEnd() const {
        std::size_t i = position_;
        while (i < text_.size()) {
            if (text_[i] == '\n') {
                const bool crlf = i > 0 && text_[i - 1] == '\r';
                const std::size_t last = crlf ? i - 1 : i;
                if (last == 0 || text_[last - 1] != '\\')
                    return last;
            }
            if (text_[i] == '/' && at(i + 1) == '/')
                return i;
            if (text_[i] == '/' && at(i + 1) == '*') {
                const auto end = text_.find("*/", i + 2);
                i = end == std::string_view::npos ? text_.size() : end + 1;
            }
            ++i;
        }
        return text_.size();
    }

    [[nodiscard]] std::size_t numberEnd() const {
        std::size_t i = position_;
        while (i < text_.size()) {
            const char c = text_[i];
            const char previous = i > position_ ? text_[i - 1] : '\0';
            const bool hex = text_.substr(position_).starts_with("0x") ||
                             text_.substr(position_).starts_with("0X");
            const bool exponent = ((previous == 'e' || previous == 'E') && !hex) ||
                                  previous == 'p' || previous == 'P';
            const bool separator = c == '\'' && isIdentifierPart(at(i + 1));
            if (!isIdentifierPart(c) && c != '.' && !separator &&
                !((c == '+' || c == '-') && exponent))
                break;
            ++i;
        }
        return i;
    }

    [[nodiscard]] std::size_t literalEnd(std::size_t quote, char mark) const {
        for (std::size_t i = quote + 1; i < text_.size(); ++i) {
            if (text_[i] == '\\')
                ++i;
            else if (text_[i] == mark)
                return i + 1;
            else if (text_[i] == '\n')
                return i;
        }
        return text_.size();
    }

    [[nodiscard]] std::size_t rawStringEnd(std::size_t quote) const {
        const auto open = text_.find('(', quote);
        if (open == std::string_view::npos || open - quote > 17)
            return quote + 1;
        std::string close(1, ')');
        close.append(text_.substr(quote + 1, open - quote - 1)).append(1, '"');
        const auto end = text_.find(close, open);
        return end == std::string_view::npos ? text_.size() : end + close.size();
    }

    std::string_view text_;
    std::uint32_t position_;
};

} // namespace

std::vector<Token> lex(std::string_view text, Span range) {
    return Lexer(text, range).run();
}

std::vector<Token> lex(std::string_view text) {
    return lex(text, {0, static_cast<std::uint32_t>(text.size())});
}

std::uint32_t skipTrivia(std::string_view text, std::uint32_t offset) {
    std::size_t i = offset;
    while (i < text.size()) {
        if (is(text[i], space)) {
            ++i;
        } else if (text[i] == '\\' && i + 1 < text.size() &&
                   (text[i + 1] == '\n' || text[i + 1] == '\r')) {
            i += 2;
        } else if (text[i] != '/') {
            break;
        } else if (text.substr(i).starts_with("//")) {
            i = std::min(text.find('\n', i), text.size());
        } else if (text.substr(i).starts_with("/*")) {
            const auto end = text.find("*/", i + 2);
            i = end == std::string_view::npos ? text.size() : end + 2;
        } else {
            break;
        }
    }
    return static_cast<std::uint32_t>(i);
}

std::size_t matchingBracket(const std::vector<Token>& tokens, std::size_t open) {
    int depth = 0;
    for (std::size_t i = open; i < tokens.size(); ++i) {
        const std::string_view text = tokens[i].text;
        if (tokens[i].kind != TokenKind::Punctuator)
            continue;
        if (text == "(" || text == "[" || text == "{")
            ++depth;
        else if ((text == ")" || text == "]" || text == "}") && --depth == 0)
            return i;
    }
    return tokens.size();
}

} // namespace kernelskill::analysis
