#include "lsp-server/report/markdown_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace kernelskill::lsp {

namespace {

constexpr std::string_view markup = "*_<>[]\\|#";

bool isOperator(std::string_view word) {
    constexpr std::array<std::string_view, 16> operators{
        "+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "=", "&&", "||", "?", "<<"};
    return std::ranges::find(operators, word) != operators.end();
}

bool isCode(std::string_view text) {
    return text != "->" && text.find_first_of(markup) != std::string_view::npos;
}

/// The part of `word` before the punctuation of its sentence.
std::string_view withoutPunctuation(std::string_view word) {
    while (!word.empty() && std::string_view(".,;:").contains(word.back()))
        word.remove_suffix(1);
    return word;
}

std::vector<std::string_view> wordsOf(std::string_view text) {
    std::vector<std::string_view> words;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        words.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

/// `code` in backticks, with the brackets or quotes around it outside of them.
std::string quoted(std::string_view code) {
    const std::string_view inner = withoutPunctuation(code);
    const std::string_view after = code.substr(inner.size());
    const bool isEnclosed = inner.size() > 2 && ((inner.front() == '(' && inner.back() == ')') ||
                                                 (inner.front() == '\'' && inner.back() == '\''));
    std::string text;
    if (isEnclosed) {
        text += inner.front();
        text.append("`").append(inner.substr(1, inner.size() - 2)).append("`");
        text += inner.back();
    } else {
        text.append("`").append(inner).append("`");
    }
    return text.append(after);
}

/// `text`, which holds no backtick, with its code in backticks.
std::string withCode(std::string_view text) {
    const auto words = wordsOf(text);
    std::string result;
    for (std::size_t first = 0; first < words.size();) {
        std::size_t last = first;
        const auto goesOn = [&] {
            return last + 2 < words.size() && isOperator(words[last + 1]) &&
                   withoutPunctuation(words[last]).size() == words[last].size();
        };
        while (goesOn())
            last += 2;
        const std::string_view run(words[first].data(),
                                   words[last].data() + words[last].size() - words[first].data());
        if (first > 0)
            result += ' ';
        if (isCode(run))
            result += quoted(run);
        else
            result += run;
        first = last + 1;
    }
    return result;
}

} // namespace

std::string markdownText(std::string_view sentence) {
    std::string result;
    bool isQuoted = false;
    for (std::size_t begin = 0; begin <= sentence.size(); isQuoted = !isQuoted) {
        const std::size_t end = std::min(sentence.find('`', begin), sentence.size());
        const std::string_view part = sentence.substr(begin, end - begin);
        if (isQuoted)
            result.append("`").append(part).append(end < sentence.size() ? "`" : "");
        else
            result += withCode(part);
        begin = end + 1;
    }
    return result;
}

} // namespace kernelskill::lsp
