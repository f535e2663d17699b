#include "analysis/scan/macros.h"

#include "analysis/source/trimmed.h"

#include <algorithm>
#include <set>

namespace kernelskill::analysis {
namespace {

constexpr std::string_view blanks = " \t\r\n\f\v\\";

std::string withoutContinuations(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool continuation =
            text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '\n' || text[i + 1] == '\r');
        result += continuation || text[i] == '\n' || text[i] == '\r' ? ' ' : text[i];
    }
    return result;
}

Macro parseDefinition(std::string_view definition) {
    const auto tokens = lex(definition);
    Macro macro;
    if (tokens.empty())
        return macro;
    macro.name = tokens[0].text;
    auto bodyBegin = tokens[0].span.end;
    if (tokens.size() > 1 && tokens[1].is("(") && tokens[1].span.begin == tokens[0].span.end) {
        macro.isFunctionLike = true;
        const auto close = matchingBracket(tokens, 1);
        for (std::size_t i = 2; i < close; ++i) {
            if (tokens[i].isIdentifier() || tokens[i].is("..."))
                macro.parameters.emplace_back(tokens[i].is("...") ? "__VA_ARGS__" : tokens[i].text);
        }
        bodyBegin = close < tokens.size() ? tokens[close].span.end
                                          : static_cast<std::uint32_t>(definition.size());
    }
    macro.body = trimmed(definition.substr(bodyBegin), blanks);
    return macro;
}

} // namespace

DirectiveParts directiveParts(std::string_view directive) {
    auto rest = trimmed(directive.substr(directive.starts_with("#") ? 1 : 0), blanks);
    const auto end = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
    const auto name = rest.substr(0, end);
    return {name,
            end == std::string_view::npos ? std::string_view{} : trimmed(rest.substr(end), blanks)};
}

void MacroTable::addDefinitionsOf(const std::vector<Token>& tokens) {
    for (const auto& token : tokens) {
        if (token.kind != TokenKind::Directive)
            continue;
        const auto [name, remainder] = directiveParts(token.text);
        if (name != "define")
            continue;
        auto macro = parseDefinition(withoutContinuations(remainder));
        if (!macro.name.empty())
            macros_[macro.name].push_back(std::move(macro));
    }
}

void MacroTable::addOption(std::string_view definition) {
    const auto equals = definition.find('=');
    auto text = std::string(definition.substr(0, equals)) + " ";
    text += equals == std::string_view::npos ? "1" : definition.substr(equals + 1);
    auto macro = parseDefinition(text);
    if (!macro.name.empty())
        macros_[macro.name].push_back(std::move(macro));
}

const Macro* MacroTable::find(std::string_view name) const {
    const auto found = macros_.find(name);
    return found == macros_.end() ? nullptr : &found->second.front();
}

const std::vector<Macro>& MacroTable::all(std::string_view name) const {
    static const std::vector<Macro> none;
    const auto found = macros_.find(name);
    return found == macros_.end() ? none : found->second;
}

bool MacroTable::names(std::string_view name, const std::vector<std::string_view>& words) const {
    if (std::ranges::find(words, name) != words.end())
        return true;
    if (!contains(name))
        return false;
    std::set<std::string, std::less<>> seen;
    std::vector<std::string> pending{std::string(name)};
    while (!pending.empty()) {
        const auto current = std::move(pending.back());
        pending.pop_back();
        if (std::ranges::find(words, current) != words.end())
            return true;
        if (!seen.insert(current).second)
            continue;
        for (const auto& macro : all(current)) {
            for (const auto& token : lex(macro.body)) {
                if (token.isIdentifier())
                    pending.emplace_back(token.text);
            }
        }
    }
    return false;
}

} // namespace kernelskill::analysis
