#include "tests/engine/repair/benchmark/mutation.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kernelskill::testing {

using analysis::Span;

std::string_view Subject::at(std::size_t token) const {
    return token < tokens.size() ? tokens[token].text : std::string_view{};
}

bool Subject::isIdentifier(std::size_t token) const {
    return token < tokens.size() && tokens[token].kind == analysis::TokenKind::Identifier;
}

std::string_view Subject::slice(Span span) const {
    return text.substr(span.begin, span.end - span.begin);
}

std::vector<Mutation> allMutations() {
    std::vector<Mutation> all;
    for (auto* family : {&punctuationMutations, &nameMutations, &declarationMutations,
                         &typeMutations, &launchMutations, &deviceMutations, &callMutations})
        std::ranges::move(family(), std::back_inserter(all));
    return all;
}

Breakage changed(Span span, std::string newText) {
    return {{span, std::move(newText)}};
}

Breakage without(const Subject& subject, std::size_t begin, std::size_t end) {
    std::uint32_t behind = subject.tokens[end - 1].span.end;
    while (behind < subject.text.size() && subject.text[behind] == ' ')
        ++behind;
    return changed({subject.tokens[begin].span.begin, behind}, "");
}

std::vector<std::size_t> sequences(const Subject& subject,
                                   std::initializer_list<std::string_view> spellings) {
    std::vector<std::size_t> found;
    for (std::size_t first = 0; first + spellings.size() <= subject.tokens.size(); ++first) {
        std::size_t next = first;
        bool isHere = std::ranges::all_of(
            spellings, [&](std::string_view spelling) { return subject.at(next++) == spelling; });
        if (isHere)
            found.push_back(first);
    }
    return found;
}

std::vector<Span> argumentsAt(const Subject& subject, std::size_t open) {
    std::vector<Span> arguments;
    std::size_t close = analysis::matchingBracket(subject.tokens, open);
    std::size_t begin = open + 1;
    int depth = 0;
    for (std::size_t index = open + 1; index <= close && close < subject.tokens.size(); ++index) {
        std::string_view text = subject.at(index);
        bool isEnd = index == close || (depth == 0 && text == ",");
        if (isEnd && index > begin)
            arguments.push_back(
                {subject.tokens[begin].span.begin, subject.tokens[index - 1].span.end});
        if (isEnd)
            begin = index + 1;
        depth += text == "(" || text == "[" || text == "{"   ? 1
                 : text == ")" || text == "]" || text == "}" ? -1
                                                             : 0;
    }
    return arguments;
}

std::size_t tokenFrom(const Subject& subject, std::uint32_t offset) {
    auto found = std::ranges::lower_bound(
        subject.tokens, offset, {}, [](const analysis::Token& token) { return token.span.begin; });
    return static_cast<std::size_t>(found - subject.tokens.begin());
}

std::vector<int> nesting(const Subject& subject) {
    std::vector<int> levels;
    int level = 0;
    for (const analysis::Token& token : subject.tokens) {
        if (token.text == ")" || token.text == "]")
            --level;
        levels.push_back(level);
        if (token.text == "(" || token.text == "[")
            ++level;
    }
    return levels;
}

} // namespace kernelskill::testing
