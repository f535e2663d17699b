#include "engine/source_scan/tokens.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace kernelskill::engine {
namespace {

bool isWordStart(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
           static_cast<unsigned char>(c) >= 0x80;
}

bool isWord(char c) {
    return isWordStart(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

constexpr std::array<std::string_view, 29> longOperators = {
    "<<<", ">>>", "<=>", "<<=", ">>=", "...", "->*", "::", "->", "<<", ">>", "<=", ">=", "==", "!=",
    "&&",  "||",  "++",  "--",  "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "##", ".*"};

/// One pass over a text that hands out tokens and comments.
class Lexer {
public:
    explicit Lexer(std::string_view text) : text_(text) {}

    void run() {
        bool atLineStart = true;
        while (position_ < text_.size()) {
            const char c = text_[position_];
            if (c == '\n' || c == '\r') {
                atLineStart = true;
                ++position_;
            } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
                ++position_;
            } else if (c == '\\' && lineEndLength(position_ + 1) > 0) {
                position_ += 1 + lineEndLength(position_ + 1);
            } else if (startsWith("//") || startsWith("/*")) {
                comment();
            } else if (c == '#' && atLineStart) {
                directive();
            } else {
                atLineStart = false;
                token();
            }
        }
    }

    std::vector<Token> tokens;
    std::vector<Comment> comments;

private:
    bool startsWith(std::string_view prefix) const {
        return text_.substr(position_).starts_with(prefix);
    }

    std::size_t lineEndLength(std::size_t at) const {
        if (text_.substr(std::min(at, text_.size())).starts_with("\r\n"))
            return 2;
        return at < text_.size() && (text_[at] == '\n' || text_[at] == '\r') ? 1 : 0;
    }

    analysis::Span spanFrom(std::size_t begin) const {
        return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(position_)};
    }

    void emit(TokenKind kind, std::size_t begin) {
        tokens.push_back({kind, spanFrom(begin), text_.substr(begin, position_ - begin)});
    }

    /// To the end of the line, or of the line that a backslash continues it onto.
    void skipLine() {
        while (position_ < text_.size()) {
            const char c = text_[position_];
            if (c == '\n' || c == '\r') {
                const bool continued = position_ > 0 && text_[position_ - 1] == '\\';
                if (!continued)
                    return;
                position_ += lineEndLength(position_);
            } else {
                ++position_;
            }
        }
    }

    void skipBlockComment() {
        const auto end = text_.find("*/", position_ + 2);
        position_ = end == std::string_view::npos ? text_.size() : end + 2;
    }

    void comment() {
        const auto begin = position_;
        if (startsWith("//"))
            skipLine();
        else
            skipBlockComment();
        comments.push_back({spanFrom(begin), text_.substr(begin, position_ - begin)});
    }

    void directive() {
        const auto begin = position_;
        while (position_ < text_.size()) {
            const char c = text_[position_];
            if (startsWith("/*")) {
                skipBlockComment();
            } else if (startsWith("//")) {
                skipLine();
                break;
            } else if (c == '\n' || c == '\r') {
                if (text_[position_ - 1] != '\\')
                    break;
                position_ += lineEndLength(position_);
            } else if (c == '"' || c == '\'') {
                quoted(c);
            } else {
                ++position_;
            }
        }
        emit(TokenKind::Directive, begin);
    }

    void quoted(char quote) {
        ++position_;
        while (position_ < text_.size() && text_[position_] != quote) {
            if (text_[position_] == '\\')
                position_ += 1 + std::max<std::size_t>(lineEndLength(position_ + 1), 1);
            else if (text_[position_] == '\n')
                return; // unterminated: the line ends it
            else
                ++position_;
        }
        position_ = std::min(position_ + 1, text_.size());
    }

    void rawString() {
        const auto open = text_.find('(', position_);
        if (open == std::string_view::npos || open - position_ > 17) {
            quoted('"');
            return;
        }
        std::string closing(1, ')');
        closing.append(text_.substr(position_ + 1, open - position_ - 1)).append(1, '"');
        const auto end = text_.find(closing, open);
        position_ = end == std::string_view::npos ? text_.size() : end + closing.size();
    }

    void token() {
        const auto begin = position_;
        const char c = text_[position_];
        if (isWordStart(c)) {
            while (position_ < text_.size() && isWord(text_[position_]))
                ++position_;
            const auto word = text_.substr(begin, position_ - begin);
            const char next = position_ < text_.size() ? text_[position_] : '\0';
            if (next == '"' &&
                (word == "R" || word == "LR" || word == "u8R" || word == "uR" || word == "UR")) {
                rawString();
                emit(TokenKind::String, begin);
            } else if ((next == '"' || next == '\'') &&
                       (word == "L" || word == "u8" || word == "u" || word == "U")) {
                quoted(next);
                emit(next == '"' ? TokenKind::String : TokenKind::Character, begin);
            } else {
                emit(TokenKind::Identifier, begin);
            }
        } else if (std::isdigit(static_cast<unsigned char>(c)) != 0 ||
                   (c == '.' && position_ + 1 < text_.size() &&
                    std::isdigit(static_cast<unsigned char>(text_[position_ + 1])) != 0)) {
            number();
            emit(TokenKind::Number, begin);
        } else if (c == '"' || c == '\'') {
            quoted(c);
            emit(c == '"' ? TokenKind::String : TokenKind::Character, begin);
        } else {
            const auto found =
                std::ranges::find_if(longOperators, [&](auto op) { return startsWith(op); });
            position_ += found == longOperators.end() ? 1 : found->size();
            emit(TokenKind::Punctuation, begin);
        }
    }

    void number() {
        while (position_ < text_.size()) {
            const char c = text_[position_];
            const char last = position_ > 0 ? text_[position_ - 1] : '\0';
            const bool exponent = (c == '+' || c == '-') &&
                                  (last == 'e' || last == 'E' || last == 'p' || last == 'P');
            const bool separator =
                c == '\'' && position_ + 1 < text_.size() && isWord(text_[position_ + 1]);
            if (!isWord(c) && c != '.' && !separator && !(exponent && !isHexadecimal()))
                return;
            ++position_;
        }
    }

    /// Whether the number being read is 0x…: there an e is a digit and does not take a sign.
    bool isHexadecimal() const {
        auto begin = position_;
        while (begin > 0 && (isWord(text_[begin - 1]) || text_[begin - 1] == '.'))
            --begin;
        const auto number = text_.substr(begin, position_ - begin);
        const bool hexadecimal = number.starts_with("0x") || number.starts_with("0X");
        return hexadecimal && !number.ends_with("p") && !number.ends_with("P");
    }

    std::string_view text_;
    std::size_t position_ = 0;
};

} // namespace

std::vector<Token> tokenize(std::string_view text) {
    Lexer lexer(text);
    lexer.run();
    return std::move(lexer.tokens);
}

std::vector<Comment> findComments(std::string_view text) {
    Lexer lexer(text);
    lexer.run();
    return std::move(lexer.comments);
}

std::size_t matchingClose(const std::vector<Token>& tokens, std::size_t open) {
    std::size_t depth = 0;
    for (auto i = open; i < tokens.size(); ++i) {
        const auto& token = tokens[i];
        if (token.is("(") || token.is("[") || token.is("{"))
            ++depth;
        else if ((token.is(")") || token.is("]") || token.is("}")) && --depth == 0)
            return i;
    }
    return tokens.size();
}

namespace {

/// `isAngle`: known to be no less-than sign.
std::size_t angleEnd(const std::vector<Token>& tokens, std::size_t open, bool isAngle) {
    int depth = 0;
    for (auto i = open; i < tokens.size(); ++i) {
        const auto& token = tokens[i];
        if (token.is("<"))
            ++depth;
        else if (token.is(">"))
            --depth;
        else if (token.is(">>"))
            depth -= 2;
        else if (token.is(">>>"))
            depth -= 3;
        else if (token.is("(") || token.is("[") || token.is("{"))
            i = std::min(matchingClose(tokens, i), tokens.size() - 1);
        else if (token.is(";") || token.is("}") || token.is(")") ||
                 (!isAngle && (token.is("&&") || token.is("||"))))
            return open;
        if (depth <= 0)
            return i;
    }
    return open;
}

} // namespace

std::size_t matchingAngle(const std::vector<Token>& tokens, std::size_t open) {
    return angleEnd(tokens, open, false);
}

std::size_t templateHeadEnd(const std::vector<Token>& tokens, std::size_t open) {
    return angleEnd(tokens, open, true);
}

} // namespace kernelskill::engine
