#include "engine/repair/compile_fixes/function_declarations.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::Token;
using analysis::TokenKind;

constexpr std::array<std::string_view, 13> notTypes{"case",   "delete", "do",   "else",   "for",
                                                    "goto",   "if",     "new",  "return", "sizeof",
                                                    "switch", "throw",  "while"};

bool endsDeclaration(const Token& token) {
    return token.kind == TokenKind::Directive || token.text == ";" || token.text == "{" ||
           token.text == "}" || token.text == ":";
}

/// The index after the '>' that closes the '<' at `open`.
std::size_t behindAngle(const std::vector<Token>& tokens, std::size_t open) {
    int depth = 0;
    for (std::size_t index = open; index < tokens.size(); ++index) {
        if (tokens[index].text == "<")
            ++depth;
        else if (tokens[index].text == ">" && --depth == 0)
            return index + 1;
    }
    return open;
}

} // namespace

DeclarationTokens declarationAround(const RepairContext& context, std::size_t name) {
    const auto& tokens = context.tokens;
    std::size_t begin = name;
    while (begin > 0 && !endsDeclaration(tokens[begin - 1]))
        --begin;
    if (begin + 1 < name && tokens[begin].text == "template")
        begin = std::min(behindAngle(tokens, begin + 1), name);
    return {begin, name};
}

std::vector<DeclarationTokens> declarationsOf(const RepairContext& context, std::string_view name) {
    const auto& tokens = context.tokens;
    std::vector<DeclarationTokens> found;
    for (std::size_t index = 1; index + 1 < tokens.size(); ++index) {
        bool isCandidate = tokens[index].kind == TokenKind::Identifier &&
                           tokens[index].text == name && tokens[index + 1].text == "(";
        if (!isCandidate)
            continue;
        DeclarationTokens declaration = declarationAround(context, index);
        // Before a declared name are only its type and attributes; a call or an initializer has
        // more.
        bool isDeclaration = declaration.begin < index;
        int depth = 0;
        for (std::size_t before = declaration.begin; before < index; ++before) {
            std::string_view text = tokens[before].text;
            // Attributes such as __launch_bounds__(256) have parentheses.
            depth += text == "(" ? 1 : text == ")" ? -1 : 0;
            // `[[nodiscard]]` is an attribute, `a[f(2)]` an extent.
            bool isExtent = text == "[" && tokens[before + 1].text != "[" &&
                            (before == 0 || tokens[before - 1].text != "[");
            bool isForeign = isExtent || text == "=" || text == "." || text == "->" ||
                             text == "," || std::ranges::find(notTypes, text) != notTypes.end();
            if (depth == 0 && isForeign)
                isDeclaration = false;
        }
        if (isDeclaration && depth == 0)
            found.push_back(declaration);
    }
    return found;
}

std::vector<FixCandidate> marked(const RepairContext& context, const std::string& name,
                                 const std::string& attribute, std::string cause, Ladder ladder) {
    FixCandidate candidate{
        std::move(cause), fmt::format("mark '{}' {}", name, attribute), {}, ladder};
    for (const DeclarationTokens& declaration : declarationsOf(context, name)) {
        std::uint32_t place = context.tokens[declaration.begin].span.begin;
        candidate.edits.push_back({{place, place}, attribute + " "});
    }
    if (candidate.edits.empty())
        return {};
    return {std::move(candidate)};
}

std::set<std::string> kernelNames(const RepairContext& context) {
    const auto& tokens = context.tokens;
    std::set<std::string> names;
    for (std::size_t index = 0; index < tokens.size(); ++index) {
        if (tokens[index].text != "__global__")
            continue;
        for (std::size_t next = index + 1;
             next + 1 < tokens.size() && !endsDeclaration(tokens[next]); ++next) {
            bool isAttribute = tokens[next].text.starts_with("__");
            if (tokens[next].kind == TokenKind::Identifier && tokens[next + 1].text == "(" &&
                !isAttribute) {
                names.emplace(tokens[next].text);
                break;
            }
        }
    }
    return names;
}

} // namespace kernelskill::engine
