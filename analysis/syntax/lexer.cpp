#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <array>

namespace kernelskill::analysis {

namespace {

constexpr std::uint8_t identifierStart = 1;
constexpr std::uint8_t digit = 2;
constexpr std::uint8_t space = 4;
constexpr std::uint8_t longOperator = 8; ///< Begins an operator of several characters.

/// The classes of each byte. Every byte of a multi-byte UTF-8 character may be part of an
/// identifier.
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
constexpr std::array<std::string_view, 28> operators = {
    "<<<", ">>>", "<<=", ">>=", "...", "<=>", "->*", "::", "->", "++", "--", "<<", "<=", ">=",
    "==",  "!=",  "&&",  "||",  "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "##", ".*"};

bool isLineEnd(char c) {
    return c == '\n' || c == '\r';
}

/// One pass over a text.
class Lexer {
public:
    Lexer(std::string_view text, Span range)
        : text_(text.substr(0, std::min<std::size_t>(range.end, text.size()))),
          position_(std::min<std::size_t>(range.begin, text_.size())) {}

    std::vector<Token> tokens() {
        std::vector<Token> tokens;
        while (skipTrivia(nullptr)) {
            tokens.push_back(next());
            joinLaunchBracket(tokens);
        }
        return tokens;
    }

    std::vector<Comment> comments() {
        std::vector<Comment> comments;
        while (skipTrivia(&comments))
            next();
        return comments;
    }

    /// Goes to the next token; false when there is none. Adds the comments on the way to
    /// `comments`, if given.
    bool skipTrivia(std::vector<Comment>* comments) {
        while (position_ < text_.size()) {
            const char c = text_[position_];
            if (is(c, space)) {
                isLineStart_ = isLineStart_ || isLineEnd(c);
                ++position_;
            } else if (c == '\\' && lineEndSize(position_ + 1) > 0) {
                position_ += 1 + lineEndSize(position_ + 1);
            } else if (c == '/' && (at(position_ + 1) == '/' || at(position_ + 1) == '*')) {
                const std::size_t begin = position_;
                position_ = commentEnd(begin);
                if (comments != nullptr)
                    comments->push_back({spanFrom(begin), text_.substr(begin, position_ - begin)});
            } else {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] std::size_t position() const { return position_; }

private:
    [[nodiscard]] char at(std::size_t offset) const {
        return offset < text_.size() ? text_[offset] : '\0';
    }

    [[nodiscard]] Span spanFrom(std::size_t begin) const {
        return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(position_)};
    }

    /// 0 where no line ends.
    [[nodiscard]] std::size_t lineEndSize(std::size_t offset) const {
        if (at(offset) == '\r' && at(offset + 1) == '\n')
            return 2;
        return isLineEnd(at(offset)) ? 1 : 0;
    }

    Token token(TokenKind kind, std::size_t end) {
        const std::size_t begin = position_;
        position_ = std::min(end, text_.size());
        return {kind, spanFrom(begin), text_.substr(begin, position_ - begin)};
    }

    Token next() {
        const char c = text_[position_];
        if (c == '#' && isLineStart_) {
            isLineStart_ = false;
            return token(TokenKind::Directive, directiveEnd());
        }
        isLineStart_ = false;
        if (isDigit(c) || (c == '.' && isDigit(at(position_ + 1))))
            return token(TokenKind::Number, numberEnd());
        if (c == '"')
            return token(TokenKind::String, literalEnd(position_));
        if (c == '\'')
            return token(TokenKind::Character, literalEnd(position_));
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
            return token(TokenKind::String, literalEnd(end));
        if (prefix && at(end) == '\'')
            return token(TokenKind::Character, literalEnd(end));
        return token(TokenKind::Identifier, end);
    }

    /// A backslash at its end continues a line comment.
    [[nodiscard]] std::size_t commentEnd(std::size_t begin) const {
        if (text_[begin + 1] == '*') {
            const auto end = text_.find("*/", begin + 2);
            return end == std::string_view::npos ? text_.size() : end + 2;
        }
        std::size_t i = text_.find_first_of("\r\n", begin);
        while (i != std::string_view::npos && text_[i - 1] == '\\')
            i = text_.find_first_of("\r\n", i + lineEndSize(i));
        return std::min(i, text_.size());
    }

    [[nodiscard]] std::size_t directiveEnd() const {
        std::size_t i = position_;
        while (i < text_.size()) {
            const char c = text_[i];
            if (isLineEnd(c)) {
                if (text_[i - 1] != '\\')
                    return i;
                i += lineEndSize(i);
            } else if (c == '/' && at(i + 1) == '/') {
                return i;
            } else if (c == '/' && at(i + 1) == '*') {
                i = commentEnd(i);
            } else if (c == '"' || (c == '\'' && !isIdentifierPart(text_[i - 1]))) {
                i = literalEnd(i);
            } else {
                ++i;
            }
        }
        return text_.size();
    }

    [[nodiscard]] std::size_t numberEnd() const {
        const std::string_view prefix = text_.substr(position_, 2);
        const bool isHexadecimal = prefix == "0x" || prefix == "0X";
        std::size_t i = position_ + 1;
        for (; i < text_.size(); ++i) {
            const char c = text_[i];
            const char previous = text_[i - 1];
            const bool isExponent = previous == 'p' || previous == 'P' ||
                                    (!isHexadecimal && (previous == 'e' || previous == 'E'));
            const bool isSeparator = c == '\'' && isIdentifierPart(at(i + 1));
            const bool isSign = (c == '+' || c == '-') && isExponent;
            if (!isIdentifierPart(c) && c != '.' && !isSeparator && !isSign)
                break;
        }
        return i;
    }

    /// The end of the literal whose first quotation mark is at `quote`.
    [[nodiscard]] std::size_t literalEnd(std::size_t quote) const {
        std::size_t i = quote + 1;
        while (i < text_.size()) {
            if (text_[i] == '\\')
                i += 1 + std::max<std::size_t>(lineEndSize(i + 1), 1);
            else if (text_[i] == text_[quote])
                return i + 1;
            else if (isLineEnd(text_[i]))
                return i;
            else
                ++i;
        }
        return text_.size();
    }

    [[nodiscard]] std::size_t rawStringEnd(std::size_t quote) const {
        constexpr std::size_t maxDelimiter = 16; // characters, by the standard
        const auto head = text_.substr(quote, maxDelimiter + 2).find('(');
        if (head == std::string_view::npos)
            return literalEnd(quote);
        const auto open = quote + head;
        const std::string_view delimiter = text_.substr(quote + 1, open - quote - 1);
        for (auto close = text_.find(')', open); close != std::string_view::npos;
             close = text_.find(')', close + 1)) {
            const std::string_view behind = text_.substr(close + 1);
            if (behind.starts_with(delimiter) && behind.substr(delimiter.size()).starts_with('"'))
                return close + delimiter.size() + 2;
        }
        return text_.size();
    }

    /// Joins `<< <`, which is no other C++, and the `>> >(` behind it: formatters that do not know
    /// CUDA break the brackets of launches so, and nvcc reads them.
    void joinLaunchBracket(std::vector<Token>& tokens) {
        const auto isLast = [&](std::size_t count, std::string_view spelling) {
            return tokens.size() >= count && tokens[tokens.size() - count].is(spelling);
        };
        const auto isOnOneLine = [&](std::size_t count) {
            const std::uint32_t begin = tokens[tokens.size() - count].span.begin;
            const std::string_view between = text_.substr(begin, tokens.back().span.end - begin);
            return between.find_first_not_of("<> \t") == std::string_view::npos;
        };
        const auto join = [&](std::size_t count, std::string_view spelling) {
            const std::uint32_t end = tokens.back().span.end;
            tokens.resize(tokens.size() - (count - 1));
            tokens.back().span.end = end;
            tokens.back().text = spelling;
        };
        if (isLast(1, "<") && isLast(2, "<<") && isOnOneLine(2)) {
            join(2, "<<<");
            hasBrokenLaunch_ = true;
        } else if (hasBrokenLaunch_ && isLast(1, ";")) {
            hasBrokenLaunch_ = false;
        } else if (hasBrokenLaunch_ && isLast(1, ">") && isLast(2, ">") && isLast(3, ">") &&
                   isOnOneLine(3)) {
            const auto behind = text_.find_first_not_of(" \t\r\n", position_);
            if (behind != std::string_view::npos && text_[behind] == '(') {
                join(3, ">>>");
                hasBrokenLaunch_ = false;
            }
        }
    }

    std::string_view text_;
    std::size_t position_;
    bool hasBrokenLaunch_ = false;      ///< A `<< <` waits for its `>> >`.
    bool isLineStart_ = position_ == 0; ///< Nothing but white space since the line began.
};

bool opens(const Token& token) {
    return token.is("(") || token.is("[") || token.is("{");
}

bool closes(const Token& token) {
    return token.is(")") || token.is("]") || token.is("}");
}

/// `isAngle`: the "<" is known to be no less-than sign.
std::size_t angleEnd(const std::vector<Token>& tokens, std::size_t open, bool isAngle) {
    // A "<" that is looked at again for each of its kin must not cost the length of the text.
    constexpr std::size_t maxTokens = 4096;
    const std::size_t end = std::min(tokens.size(), open + maxTokens);
    int depth = 0;
    for (std::size_t i = open; i < end; ++i) {
        const Token& token = tokens[i];
        if (token.is("<"))
            ++depth;
        else if (token.is(">"))
            --depth;
        else if (token.is(">>>"))
            depth -= 3;
        else if (opens(token))
            i = std::min(matchingBracket(tokens, i), tokens.size() - 1);
        else if (token.is(";") || token.is("}") || token.is(")") ||
                 (!isAngle && (token.is("&&") || token.is("||"))))
            return open;
        if (depth <= 0)
            return i;
    }
    return open;
}

} // namespace

std::vector<Token> lex(std::string_view text, Span range) {
    return Lexer(text, range).tokens();
}

std::vector<Token> lex(std::string_view text) {
    return lex(text, {0, static_cast<std::uint32_t>(text.size())});
}

std::string tokenText(std::string_view text, Span range) {
    std::string tokens;
    for (const Token& token : lex(text, range))
        tokens.append(token.text).append(" ");
    return tokens;
}

std::string tokenText(std::string_view text) {
    return tokenText(text, {0, static_cast<std::uint32_t>(text.size())});
}

std::vector<Comment> findComments(std::string_view text) {
    return Lexer(text, {0, static_cast<std::uint32_t>(text.size())}).comments();
}

std::uint32_t skipTrivia(std::string_view text, std::uint32_t offset) {
    Lexer lexer(text, {offset, static_cast<std::uint32_t>(text.size())});
    lexer.skipTrivia(nullptr);
    return static_cast<std::uint32_t>(lexer.position());
}

bool isShiftRight(const std::vector<Token>& tokens, std::size_t at) {
    return at + 1 < tokens.size() && tokens[at].is(">") && tokens[at + 1].is(">") &&
           tokens[at].span.end == tokens[at + 1].span.begin;
}

std::size_t matchingBracket(const std::vector<Token>& tokens, std::size_t open) {
    int depth = 0;
    for (std::size_t i = open; i < tokens.size(); ++i) {
        if (tokens[i].kind != TokenKind::Punctuator)
            continue;
        if (opens(tokens[i]))
            ++depth;
        else if (closes(tokens[i]) && --depth == 0)
            return i;
    }
    return tokens.size();
}

std::size_t matchingAngle(const std::vector<Token>& tokens, std::size_t open) {
    return angleEnd(tokens, open, false);
}

std::size_t templateHeadEnd(const std::vector<Token>& tokens, std::size_t open) {
    return angleEnd(tokens, open, true);
}

std::size_t openingAngle(const std::vector<Token>& tokens, std::size_t close) {
    constexpr std::size_t maxTokens = 4096;
    const std::size_t first = close > maxTokens ? close - maxTokens : 0;
    int depth = 0;
    for (std::size_t i = close; i > first; --i) {
        depth += tokens[i].is(">") ? 1 : tokens[i].is("<") ? -1 : 0;
        if (depth == 0)
            return i;
    }
    return 0;
}

} // namespace kernelskill::analysis
