#include "engine/execution/emulator/unit/guarded_arrays.h"

#include "analysis/source/source_text.h"
#include "analysis/syntax/lexer.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace kernelskill::engine {
namespace {

using analysis::Token;
using analysis::TokenKind;

/// Words that begin no declaration of an object on the stack.
constexpr std::array<std::string_view, 27> otherWords{
    "static", "constexpr", "consteval",  "constinit",    "extern",     "return",     "else",
    "case",   "default",   "goto",       "new",          "delete",     "throw",      "typedef",
    "using",  "auto",      "register",   "thread_local", "template",   "operator",   "sizeof",
    "do",     "decltype",  "__shared__", "__constant__", "__device__", "__managed__"};

struct Redeclaration {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::string text;
};

class Guarding {
public:
    Guarding(const std::string& text, const DeclaredNames& arrays)
        : source_(text), text_(source_.text()), arrays_(arrays), tokens_(analysis::lex(text_)) {}

    std::vector<Redeclaration> replacements() const {
        std::vector<Redeclaration> found;
        for (std::size_t i = 1; i + 1 < tokens_.size(); ++i)
            if (tokens_[i].isIdentifier() && tokens_[i + 1].is("[") && isWanted(tokens_[i]))
                if (auto replacement = declarationOf(i))
                    found.push_back(*std::move(replacement));
        return found;
    }

private:
    bool isWanted(const Token& name) const {
        return arrays_.contains(
            {source_.lineColumn(name.span.begin).line + 1, std::string(name.text)});
    }

    /// The first token of the specifiers in front of a name that a declaration begins with.
    std::optional<std::size_t> specifiersOf(std::size_t name) const {
        std::size_t first = name;
        int angles = 0;
        while (first > 0) {
            const Token& token = tokens_[first - 1];
            if (token.kind == TokenKind::Directive || token.is(";") || token.is("{") ||
                token.is("}") || token.is(":"))
                break;
            angles += token.is(">") ? 1 : token.is("<") ? -1 : 0;
            const bool isName = token.isIdentifier() &&
                                std::ranges::find(otherWords, token.text) == otherWords.end();
            const bool isInAngles =
                angles > 0 && (token.is(",") || token.kind == TokenKind::Number);
            if (!isName && !isInAngles && !token.is("::") && !token.is("*") && !token.is("<") &&
                !token.is(">"))
                return std::nullopt;
            --first;
        }
        const bool isDeclared = first < name && angles == 0 && tokens_[first].isIdentifier();
        return isDeclared ? std::optional(first) : std::nullopt;
    }

    std::optional<Redeclaration> declarationOf(std::size_t name) const {
        const auto first = specifiersOf(name);
        if (!first)
            return std::nullopt;
        std::size_t after = name + 1;
        while (after < tokens_.size() && tokens_[after].is("[")) {
            const std::size_t close = matchingBracket(tokens_, after);
            if (close >= tokens_.size() || close == after + 1)
                return std::nullopt;
            after = close + 1;
        }
        if (after >= tokens_.size())
            return std::nullopt;
        const std::uint32_t endOfExtents = tokens_[after - 1].span.end;
        std::size_t values = after;
        if (tokens_[values].is("="))
            ++values;
        std::string initialiser;
        if (values < tokens_.size() && tokens_[values].is("{")) {
            const std::size_t close = matchingBracket(tokens_, values);
            if (close + 1 >= tokens_.size())
                return std::nullopt;
            initialiser =
                fmt::format(" = {{{{}}, {}}}",
                            between(tokens_[after].span.begin, tokens_[close].span.end)
                                .substr(tokens_[values].span.begin - tokens_[after].span.begin));
            after = close + 1;
        }
        if (!tokens_[after].is(";") && !tokens_[after].is(","))
            return std::nullopt;
        const std::string specifiers =
            between(tokens_[*first].span.begin, tokens_[name].span.begin);
        const std::string extents = between(tokens_[name].span.end, endOfExtents);
        return Redeclaration{
            tokens_[*first].span.begin, tokens_[after - 1].span.end,
            fmt::format("ks::Owned<{} {}> ksOwn_{}{}; {} (&{}){} = ksOwn_{}.ksArray", specifiers,
                        extents, tokens_[name].text, initialiser, inOneLine(specifiers),
                        tokens_[name].text, inOneLine(extents), tokens_[name].text)};
    }

    std::string between(std::uint32_t begin, std::uint32_t end) const {
        return text_.substr(begin, end - begin);
    }

    static std::string inOneLine(std::string text) {
        std::ranges::replace(text, '\n', ' ');
        return text;
    }

    const analysis::SourceText source_;
    const std::string& text_;
    const DeclaredNames& arrays_;
    std::vector<Token> tokens_;
};

} // namespace

std::string withGuardedArrays(std::string text, const DeclaredNames& arrays) {
    if (arrays.empty())
        return text;
    std::string result;
    std::uint32_t done = 0;
    for (const Redeclaration& one : Guarding(text, arrays).replacements()) {
        result.append(text, done, one.begin - done).append(one.text);
        done = one.end;
    }
    return result.append(text, done);
}

} // namespace kernelskill::engine
