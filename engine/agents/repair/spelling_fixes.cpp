/// Misspelled names: of the file itself, of CUDA's API and intrinsics, of the language.
#include "analysis/source/files.h"
#include "engine/agents/repair/edit_distance.h"
#include "engine/agents/repair/fix_candidate.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;
using analysis::Diagnostic;
using analysis::Token;
using analysis::TokenKind;

constexpr std::size_t mostSuggestions = 5;

constexpr std::array<std::string_view, 44> languageWords{
    "auto",     "bool",     "break",  "case",        "char",     "class",  "const",    "constexpr",
    "continue", "default",  "delete", "do",          "double",   "else",   "enum",     "extern",
    "false",    "float",    "for",    "if",          "inline",   "int",    "long",     "namespace",
    "new",      "nullptr",  "return", "short",       "signed",   "sizeof", "static",   "struct",
    "switch",   "template", "true",   "typedef",     "typename", "union",  "unsigned", "using",
    "void",     "volatile", "while",  "static_cast",
};

/// Names in the prelude's headers: all of CUDA that the product knows, so no list of its own to
/// grow stale.
std::set<std::string> cudaNames(const fs::path& folder) {
    std::set<std::string> names;
    std::error_code ignored;
    fs::recursive_directory_iterator walk(folder, ignored);
    for (; !ignored && walk != fs::recursive_directory_iterator{}; walk.increment(ignored)) {
        if (!walk->is_regular_file(ignored))
            continue;
        const std::string text = analysis::readFile(walk->path()).value_or("");
        for (const Token& token : analysis::lex(text)) {
            if (token.kind == TokenKind::Identifier) {
                names.emplace(token.text);
            } else if (token.kind == TokenKind::Directive && token.text.find("define") < 10) {
                auto inner = analysis::lex(token.text.substr(token.text.find("define") + 6));
                if (!inner.empty() && inner.front().kind == TokenKind::Identifier)
                    names.emplace(inner.front().text);
            }
        }
    }
    return names;
}

/// Which token is misspelled; tokens.size() when the message names none.
std::size_t misspelled(const RepairContext& context, const Diagnostic& error) {
    auto name = quotedName(error.message);
    if (!name)
        return context.tokens.size();
    if (auto colons = name->rfind("::"); colons != std::string::npos)
        name = name->substr(colons + 2);
    std::uint32_t line = context.lineOf(error.span.begin);
    for (std::size_t index = context.tokenAt(error.span.begin); index < context.tokens.size();
         ++index) {
        const Token& token = context.tokens[index];
        if (context.lineOf(token.span.begin) > line)
            break;
        if (token.kind == TokenKind::Identifier && token.text == *name)
            return index;
    }
    return context.tokens.size();
}

} // namespace

std::vector<FixCandidate> spellingFixes(const RepairContext& context, const Diagnostic& error) {
    const std::string& message = error.message;
    bool isAboutAName =
        message.starts_with("use of undeclared") || message.starts_with("unknown type name") ||
        message.starts_with("no member named") || message.starts_with("no type named") ||
        message.starts_with("no template named") || message.starts_with("unknown class name") ||
        message.starts_with("call to undeclared function");
    if (!isAboutAName)
        return {};
    std::size_t at = misspelled(context, error);
    if (at == context.tokens.size())
        return {};
    const Token& wrong = context.tokens[at];

    std::map<std::string, std::size_t> inFile;
    for (const Token& token : context.tokens) {
        if (token.kind == TokenKind::Identifier && token.text != wrong.text)
            ++inFile[std::string(token.text)];
        if (token.kind == TokenKind::Directive &&
            token.text.find("define") != std::string_view::npos) {
            for (const Token& word : analysis::lex(token.text.substr(1))) {
                if (word.kind == TokenKind::Identifier && word.text != wrong.text)
                    ++inFile[std::string(word.text)];
            }
        }
    }
    // A third of the name may be wrong, in half units; of a short name one letter.
    std::size_t limit = std::max<std::size_t>(2, wrong.text.size() / 3 * 2) + 1;
    struct Suggestion {
        std::size_t distance;
        bool isElsewhere; ///< Names of the file come before equally close ones of CUDA.
        std::string name;
        auto operator<=>(const Suggestion&) const = default;
    };
    std::set<Suggestion> suggestions;
    auto suggest = [&](const std::string& name, bool isElsewhere) {
        std::size_t distance = editDistance(wrong.text, name, limit);
        if (distance > 0 && distance < limit)
            suggestions.insert({distance, isElsewhere, name});
    };
    for (const auto& [name, count] : inFile)
        suggest(name, false);
    for (std::string_view word : languageWords)
        suggest(std::string(word), true);
    for (const std::string& name : cudaNames(context.toolchain.preludeInclude)) {
        if (!inFile.contains(name))
            suggest(name, true);
    }
    std::vector<FixCandidate> candidates;
    for (const Suggestion& suggestion : suggestions) {
        if (candidates.size() == mostSuggestions)
            break;
        candidates.push_back({"misspelled-identifier",
                              fmt::format("change '{}' to '{}'", wrong.text, suggestion.name),
                              {{wrong.span, suggestion.name}},
                              0});
    }
    return candidates;
}

} // namespace kernelskill::engine
