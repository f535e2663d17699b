#include "analysis/command/shell_words.h"

namespace kernelskill::analysis {

namespace {

template <typename IsSeparator>
std::vector<std::string> split(std::string_view text, IsSeparator isSeparator) {
    std::vector<std::string> words;
    std::string word;
    bool open = false; // A word has begun, even if it is empty: "".
    char quote = '\0';
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
            // Inside double quotes a backslash escapes only these characters.
            const char next = text[++i];
            if (quote == '"' && next != '"' && next != '\\' && next != '$' && next != '`')
                word += c;
            if (next != '\n') // A backslash before a line end joins the lines.
                word += next;
            open = true;
        } else if (quote != '\0') {
            if (c == quote)
                quote = '\0';
            else
                word += c;
        } else if (c == '"' || c == '\'') {
            quote = c;
            open = true;
        } else if (isSeparator(c)) {
            if (open)
                words.push_back(std::move(word));
            word.clear();
            open = false;
        } else {
            word += c;
            open = true;
        }
    }
    if (open)
        words.push_back(std::move(word));
    return words;
}

} // namespace

std::vector<std::string> splitShellWords(std::string_view text) {
    return split(text, [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; });
}

std::vector<std::string> splitOptionList(std::string_view text) {
    return split(text, [](char c) { return c == ','; });
}

} // namespace kernelskill::analysis
