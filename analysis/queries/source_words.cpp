#include "analysis/queries/source_words.h"

#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <cctype>

namespace kernelskill::analysis {

namespace {

bool isIdentifierPart(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) != 0 || c == '_' || c == '$' || byte >= 0x80;
}

} // namespace

std::vector<Span> occurrences(std::string_view text, std::string_view word) {
    std::vector<Span> found;
    if (word.empty())
        return found;
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        const bool isWhole = (at == 0 || !isIdentifierPart(text[at - 1])) &&
                             (end == text.size() || !isIdentifierPart(text[end]));
        if (isWhole)
            found.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)});
    }
    return found;
}

bool isWrittenAs(const SourceText& source, Span statement,
                 std::initializer_list<std::string_view> keywords) {
    constexpr std::uint32_t maxKeyword = 16;
    const Span head{statement.begin, std::min(statement.end, statement.begin + maxKeyword)};
    const std::vector<Token> tokens = lex(source.text(), head);
    return !tokens.empty() && std::ranges::find(keywords, tokens.front().text) != keywords.end();
}

} // namespace kernelskill::analysis
