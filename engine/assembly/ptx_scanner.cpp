#include "engine/assembly/ptx_scanner.h"

#include <algorithm>
#include <array>

namespace kernelskill::engine {
namespace {

constexpr auto lineDirectives = std::to_array<std::string_view>(
    {".loc", ".file", ".version", ".target", ".address_size", ".section"});

bool isBlank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

bool isPtxNamePart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%' || c == '.';
}

void addBlank(std::string& text) {
    if (!text.empty() && text.back() != ' ')
        text += ' ';
}

void trimEnd(std::string& text) {
    while (!text.empty() && text.back() == ' ')
        text.pop_back();
}

} // namespace

void PtxScanner::advance() {
    line_ += text_[at_] == '\n' ? 1 : 0;
    ++at_;
}

bool PtxScanner::skipComment() {
    const auto rest = text_.substr(at_);
    if (rest.starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
        return true;
    }
    if (!rest.starts_with("/*"))
        return false;
    const auto end = text_.find("*/", at_ + 2);
    const auto stop = end == std::string_view::npos ? text_.size() : end + 2;
    while (at_ < stop)
        advance();
    return true;
}

void PtxScanner::skipBlank() {
    while (at_ < text_.size()) {
        if (isBlank(text_[at_]))
            advance();
        else if (!skipComment())
            return;
    }
}

PtxStatement PtxScanner::restOfLine() {
    PtxStatement result{PtxStatement::Kind::Line, {}, line_};
    while (at_ < text_.size() && text_[at_] != '\n' && !text_.substr(at_).starts_with("//")) {
        if (isBlank(text_[at_]))
            addBlank(result.text);
        else
            result.text += text_[at_];
        ++at_;
    }
    trimEnd(result.text);
    return result;
}

PtxStatement PtxScanner::statement() {
    PtxStatement result{PtxStatement::Kind::Instruction, {}, line_};
    bool isOneName = true; // So far; a colon makes it a label.
    bool isInQuotes = false;
    // Open braces of the statement itself: vectors and values of variables.
    std::uint32_t braces = 0;
    while (at_ < text_.size()) {
        const char c = text_[at_];
        if (isInQuotes) {
            isInQuotes = c != '"';
            result.text += c;
            advance();
            continue;
        }
        if (skipComment()) {
            addBlank(result.text);
            continue;
        }
        if (c == ';') {
            advance();
            break;
        }
        if (c == '}' && braces == 0) // The semicolon is missing, as in data sections.
            break;
        if (c == '}')
            --braces;
        // Outside functions a brace opens one, unless it is a variable's value.
        if (c == '{' && depth_ == 0 && result.text.find('=') == std::string::npos) {
            result.kind = PtxStatement::Kind::Header;
            break;
        }
        if (c == '{')
            ++braces;
        if (c == ':' && isOneName && !result.text.empty() && !text_.substr(at_).starts_with("::")) {
            result.kind = PtxStatement::Kind::Label;
            advance();
            break;
        }
        if (isBlank(c)) {
            addBlank(result.text);
        } else {
            isOneName =
                isOneName && isPtxNamePart(c) && (result.text.empty() || result.text.back() != ' ');
            isInQuotes = c == '"';
            result.text += c;
        }
        advance();
    }
    trimEnd(result.text);
    return result;
}

std::optional<PtxStatement> PtxScanner::next() {
    skipBlank();
    if (at_ >= text_.size())
        return std::nullopt;
    if (text_[at_] == '{' || text_[at_] == '}') {
        const bool opens = text_[at_] == '{';
        const PtxStatement brace{
            opens ? PtxStatement::Kind::Open : PtxStatement::Kind::Close, {}, line_};
        if (opens)
            ++depth_;
        else if (depth_ > 0)
            --depth_;
        advance();
        return brace;
    }
    if (text_[at_] == '.') {
        auto end = at_ + 1;
        while (end < text_.size() && isPtxNamePart(text_[end]))
            ++end;
        if (std::ranges::find(lineDirectives, text_.substr(at_, end - at_)) != lineDirectives.end())
            return restOfLine();
    }
    return statement();
}

} // namespace kernelskill::engine
