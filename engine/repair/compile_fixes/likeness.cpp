#include "engine/repair/compile_fixes/likeness.h"

#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <functional>

namespace kernelskill::engine {
namespace {

using analysis::Token;

constexpr std::size_t shortest = 3;
constexpr std::size_t longest = 6;

bool endsStatement(const Token& token) {
    return token.text == ";" || token.text == "{" || token.text == "}" ||
           token.kind == analysis::TokenKind::Directive;
}

std::uint64_t hashOf(const std::vector<Token>& tokens, std::size_t begin, std::size_t length) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (std::size_t index = begin; index < begin + length; ++index)
        hash = (hash ^ std::hash<std::string_view>{}(tokens[index].text)) * 0x100000001b3u;
    return hash;
}

} // namespace

Likeness::Likeness(std::string_view text, std::uint32_t offset) {
    const std::vector<Token> tokens = analysis::lex(text);
    std::size_t at = 0;
    while (at < tokens.size() && tokens[at].span.end <= offset)
        ++at;
    std::size_t begin = std::min(at, tokens.size());
    std::size_t end = begin;
    while (begin > 0 && !endsStatement(tokens[begin - 1]))
        --begin;
    while (end < tokens.size() && !endsStatement(tokens[end]))
        ++end;
    for (std::size_t index = 0; index < tokens.size(); ++index)
        for (std::size_t length = shortest; length <= longest; ++length) {
            bool isOutside = index + length <= begin || index >= end;
            if (index + length <= tokens.size() && isOutside)
                sequences_.insert(hashOf(tokens, index, length));
        }
}

std::size_t Likeness::of(std::string_view edited,
                         const std::vector<analysis::TextEdit>& edits) const {
    constexpr std::uint32_t around = 160; // Bytes; statements are seldom longer.
    std::uint32_t first = 0xffffffffu;
    std::uint32_t last = 0;
    for (const analysis::TextEdit& edit : edits) {
        first = std::min(first, edit.span.begin);
        last = std::max(last, edit.span.end + static_cast<std::uint32_t>(edit.newText.size()));
    }
    auto begin =
        static_cast<std::uint32_t>(edited.rfind('\n', first > around ? first - around : 0) + 1);
    if (first <= around)
        begin = 0;
    auto end = static_cast<std::uint32_t>(
        std::min<std::size_t>(edited.size(), std::size_t{last} + around));
    const std::vector<Token> tokens = analysis::lex(edited, {begin, end});
    // Assignments do not occur within an index.
    int depth = 0;
    for (const Token& token : tokens) {
        depth = endsStatement(token) ? 0
                                     : depth + (token.text == "["   ? 1
                                                : token.text == "]" ? -1
                                                                    : 0);
        bool assigns =
            token.text == "=" || token.text == "+=" || token.text == "-=" || token.text == "*=";
        if (assigns && depth > 0)
            return 0;
    }
    std::size_t sum = 1;
    for (std::size_t index = 0; index < tokens.size(); ++index)
        for (std::size_t length = shortest; length <= longest; ++length)
            if (index + length <= tokens.size() &&
                sequences_.contains(hashOf(tokens, index, length)))
                sum += length;
    return sum;
}

} // namespace kernelskill::engine
