#include "analysis/parse/launch_brackets.h"

#include "analysis/syntax/lexer.h"

#include <utility>
#include <vector>

namespace kernelskill::analysis {

namespace {

bool hasBrokenBracket(std::string_view text) {
    for (auto at = text.find("<<"); at != std::string_view::npos; at = text.find("<<", at + 2)) {
        const auto behind = text.find_first_not_of(" \t", at + 2);
        if (behind != std::string_view::npos && behind != at + 2 && text[behind] == '<')
            return true;
    }
    return false;
}

} // namespace

std::string withJoinedLaunchBrackets(std::string text) {
    if (!hasBrokenBracket(text))
        return text;
    std::vector<std::pair<Span, char>> brackets;
    for (const Token& token : lex(text))
        if ((token.is("<<<") || token.is(">>>")) && token.span.end - token.span.begin > 3)
            brackets.emplace_back(token.span, token.text.front());
    for (const auto& [span, bracket] : brackets) {
        for (std::uint32_t at = span.begin; at < span.end; ++at)
            if (text[at] == bracket)
                text[at] = ' ';
        for (std::uint32_t at = span.begin; at < span.begin + 3; ++at)
            text[at] = bracket;
    }
    return text;
}

} // namespace kernelskill::analysis
