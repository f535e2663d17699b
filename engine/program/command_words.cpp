#include "engine/program/command_words.h"

#include "analysis/command/shell_words.h"
#include "analysis/source/trimmed.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace kernelskill::engine {
namespace {

constexpr std::string_view shell = "/bin/sh";

bool isName(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_';
    });
}

/// Whether a shell would do more with the line than split it into words.
bool needsShell(std::string_view line) {
    char quote = '\0';
    bool atWordStart = true;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote == '\'') {
            quote = c == '\'' ? '\0' : quote;
        } else if (c == '\\') {
            ++i;
        } else if (c == '$' || c == '`') {
            return true;
        } else if (quote == '"') {
            quote = c == '"' ? '\0' : quote;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (std::string_view("|&;<>()*?[\n").contains(c) ||
                   (atWordStart && (c == '~' || c == '#' || c == '!' || c == '{'))) {
            return true;
        }
        atWordStart = quote == '\0' && (c == ' ' || c == '\t');
    }
    // Commands that no program is.
    constexpr std::array<std::string_view, 12> builtIn{".",    "cd",     "eval",  "exec",
                                                       "exit", "export", "set",   "source",
                                                       "trap", "ulimit", "umask", "unset"};
    const auto first = line.substr(0, line.find_first_of(" \t"));
    if (std::ranges::find(builtIn, first) != builtIn.end())
        return true;
    // `NAME=value program` sets a variable.
    const auto equals = line.find('=');
    return equals != std::string_view::npos && isName(line.substr(0, equals));
}

bool isPlain(std::string_view word) {
    return !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
        return std::isalnum(c) != 0 ||
               std::string_view("-_./=+,:@%^").contains(static_cast<char>(c));
    });
}

std::string quotedWord(std::string_view word) {
    if (isPlain(word))
        return std::string(word);
    std::string text = "'";
    for (const char c : word)
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

bool isShellLine(const std::vector<std::string>& words) {
    return words.size() == 3 && words[0] == shell && words[1] == "-c";
}

} // namespace

std::vector<std::string> commandWords(std::string_view line) {
    line = analysis::trimmed(line);
    if (line.empty())
        return {};
    if (needsShell(line))
        return {std::string(shell), "-c", std::string(line)};
    return analysis::splitShellWords(line);
}

std::string commandText(const std::vector<std::string>& words) {
    if (isShellLine(words))
        return words[2];
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : " ") + quotedWord(word);
    return text;
}

std::vector<std::string> joinedCommands(const std::vector<std::vector<std::string>>& commands) {
    if (commands.size() == 1)
        return commands.front();
    std::string line;
    for (const auto& words : commands) {
        const std::string text = commandText(words);
        line += line.empty() ? "" : " && ";
        // The line of a shell may have operators of its own.
        line += isShellLine(words) ? "( " + text + " )" : text;
    }
    return line.empty() ? std::vector<std::string>{}
                        : std::vector<std::string>{std::string(shell), "-c", line};
}

} // namespace kernelskill::engine
