/// Fixes misspelled names: the file's own, those of CUDA's API and intrinsics, and keywords.
#include "analysis/source/files.h"
#include "engine/repair/compile_fixes/edit_distance.h"
#include "engine/repair/compile_fixes/fix_candidate.h"

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

constexpr std::size_t maxSuggestions = 5;

constexpr std::array<std::string_view, 44> languageWords{
    "auto",     "bool",     "break",  "case",        "char",     "class",  "const",    "constexpr",
    "continue", "default",  "delete", "do",          "double",   "else",   "enum",     "extern",
    "false",    "float",    "for",    "if",          "inline",   "int",    "long",     "namespace",
    "new",      "nullptr",  "return", "short",       "signed",   "sizeof", "static",   "struct",
    "switch",   "template", "true",   "typedef",     "typename", "union",  "unsigned", "using",
    "void",     "volatile", "while",  "static_cast",
};

/// Functions of <math.h>, which the parser finds in the host's headers.
constexpr std::string_view mathFunctions[] = {
    "expf",   "exp2f",  "logf",  "log2f", "log10f", "sqrtf",  "rsqrtf", "powf",  "sinf",   "cosf",
    "tanf",   "tanhf",  "sinhf", "coshf", "atan2f", "fabsf",  "fmaxf",  "fminf", "floorf", "ceilf",
    "roundf", "truncf", "fmodf", "fmaf",  "erff",   "isnan",  "isinf",  "exp",   "log",    "sqrt",
    "pow",    "sin",    "cos",   "tan",   "tanh",   "fabs",   "fmax",   "fmin",  "floor",  "ceil",
    "round",  "fma",    "abs",   "min",   "max",    "printf", "memcpy", "memset"};

/// The names in the prelude's headers: everything of CUDA that KernelSkill knows, without a second
/// list.
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

/// The maximum distance, in half units, of the intended name: a third of the letters. A name that
/// is used often was probably never declared and not misspelled each time.
std::size_t limitFor(std::string_view name, std::size_t uses) {
    constexpr std::size_t oneLetter = 2;
    if (uses > 2)
        return oneLetter + 1;
    return std::max<std::size_t>(oneLetter, name.size() / 3 * 2) + 1;
}

/// Changing one of two letters gives another name. So a name of one or two letters may only have
/// lost one, or have two swapped.
bool mayBeMeant(std::string_view wrong, std::string_view name) {
    constexpr std::size_t shortName = 2;
    if (wrong.size() > shortName)
        return true;
    bool isSwapped =
        wrong.size() == 2 && name.size() == 2 && wrong[0] == name[1] && wrong[1] == name[0];
    bool isCase = wrong.size() == name.size() && editDistance(wrong, name, 2) == 1;
    return isSwapped || isCase || (wrong.size() == 2 && name.size() == 3);
}

/// The number of tokens on both sides of `place` that `name` also has as neighbours elsewhere.
int likenessOf(const RepairContext& context, std::size_t place, std::string_view name) {
    constexpr std::size_t maxNeighbours = 3;
    int best = 0;
    auto same = [&](std::size_t one, std::size_t other) {
        return one < context.tokens.size() && other < context.tokens.size() &&
               context.tokens[one].text == context.tokens[other].text;
    };
    for (std::size_t index = 0; index < context.tokens.size(); ++index) {
        if (context.tokens[index].text != name)
            continue;
        int shared = 0;
        for (std::size_t step = 1; step <= maxNeighbours && same(index + step, place + step);
             ++step)
            ++shared;
        for (std::size_t step = 1; step <= maxNeighbours && step <= std::min(index, place) &&
                                   same(index - step, place - step);
             ++step)
            ++shared;
        best = std::max(best, shared);
    }
    return best;
}

/// The misspelled token; tokens.size() if the message names none.
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
    std::vector<std::size_t> uses;
    for (std::size_t index = 0; index < context.tokens.size(); ++index)
        if (context.tokens[index].kind == TokenKind::Identifier &&
            context.tokens[index].text == wrong.text)
            uses.push_back(index);
    std::size_t limit = limitFor(wrong.text, uses.size());
    struct Suggestion {
        std::size_t distance;
        bool isElsewhere; ///< Names in the file precede equally close names of CUDA.
        int unlikeness;   ///< Lower if the name has the same neighbours at more places.
        std::string name;
        auto operator<=>(const Suggestion&) const = default;
    };
    std::set<Suggestion> suggestions;
    auto suggest = [&](const std::string& name, bool isElsewhere) {
        std::size_t distance = editDistance(wrong.text, name, limit);
        if (distance > 0 && distance < limit && mayBeMeant(wrong.text, name))
            suggestions.insert({distance, isElsewhere, -likenessOf(context, at, name), name});
    };
    for (const auto& [name, count] : inFile)
        suggest(name, false);
    for (std::string_view word : languageWords)
        suggest(std::string(word), true);
    for (std::string_view name : mathFunctions)
        suggest(std::string(name), true);
    for (const std::string& name : cudaNames(context.toolchain.preludeInclude)) {
        if (!inFile.contains(name))
            suggest(name, true);
    }
    std::vector<FixCandidate> candidates;
    for (const Suggestion& suggestion : suggestions) {
        if (candidates.size() == maxSuggestions)
            break;
        FixCandidate candidate{"misspelled-identifier",
                               fmt::format("change '{}' to '{}'", wrong.text, suggestion.name),
                               {}};
        for (std::size_t use : uses)
            candidate.edits.push_back({context.tokens[use].span, suggestion.name});
        candidates.push_back(std::move(candidate));
    }
    return candidates;
}

} // namespace kernelskill::engine
