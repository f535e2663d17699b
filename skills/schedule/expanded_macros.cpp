#include "skills/schedule/expanded_macros.h"

#include "analysis/scan/macros.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr int maxNesting = 8;
constexpr std::size_t maxText = 4096; ///< Of one use: no kernel is meant to be read so.

/// Adds `more` to `text`, with a space where two tokens would become one.
void append(std::string& text, std::string_view more) {
    constexpr std::string_view joining = "+-&|<>=";
    if (!text.empty() && !more.empty() && joining.contains(text.back()) &&
        joining.contains(more.front()))
        text += ' ';
    text += more;
}

class MacroExpander {
public:
    explicit MacroExpander(const MacroTable& macros) : macros_(macros) {}

    /// Returns the text of the macro use that begins at `tokens[at]`, and moves `at` to its last
    /// token. nullopt if no macro that can be written out begins there.
    [[nodiscard]] std::optional<std::string> expanded(const std::vector<Token>& tokens,
                                                      std::size_t& at, int depth = 0) const {
        const Macro* macro = macroOf(tokens[at]);
        if (macro == nullptr || depth > maxNesting)
            return std::nullopt;
        if (!macro->isFunctionLike)
            return written(macro->body, depth + 1);
        if (at + 1 >= tokens.size() || !tokens[at + 1].is("("))
            return std::nullopt;
        const std::size_t close = matchingBracket(tokens, at + 1);
        if (close >= tokens.size())
            return std::nullopt;
        const auto arguments = argumentsIn(tokens, at + 2, close, depth);
        if (!arguments || arguments->size() != macro->parameters.size())
            return std::nullopt;
        at = close;
        std::string body;
        std::uint32_t end = 0;
        for (const Token& token : lex(macro->body)) {
            append(body, token.span.begin > end ? " " : "");
            const auto parameter = std::ranges::find(macro->parameters, token.text);
            const bool isParameter = token.isIdentifier() && parameter != macro->parameters.end();
            append(
                body,
                isParameter
                    ? (*arguments)[static_cast<std::size_t>(parameter - macro->parameters.begin())]
                    : std::string(token.text));
            end = token.span.end;
        }
        return written(body, depth + 1);
    }

private:
    /// Returns the macro that the token names; nullptr if it names none that can be written out.
    [[nodiscard]] const Macro* macroOf(const Token& token) const {
        if (!token.isIdentifier() || macros_.all(token.text).size() != 1)
            return nullptr;
        const Macro& macro = macros_.all(token.text).front();
        const std::vector<Token> body = lex(macro.body);
        const bool isPlain = std::ranges::none_of(body, [&](const Token& part) {
            return part.text.starts_with("#") || part.text == macro.name ||
                   part.kind == TokenKind::Directive;
        });
        const bool isVariadic =
            std::ranges::find(macro.parameters, "__VA_ARGS__") != macro.parameters.end();
        return isPlain && !isVariadic && body.size() > 1 ? &macro : nullptr;
    }

    /// Returns the text with its macros written out; nullopt if one of them cannot be.
    [[nodiscard]] std::optional<std::string> written(const std::string& text, int depth) const {
        std::string result;
        std::uint32_t end = 0;
        const std::vector<Token> tokens = lex(text);
        for (std::size_t at = 0; at < tokens.size(); ++at) {
            append(result, std::string_view(text).substr(end, tokens[at].span.begin - end));
            if (macroOf(tokens[at]) != nullptr) {
                const auto inner = expanded(tokens, at, depth);
                if (!inner)
                    return std::nullopt;
                append(result, *inner);
            } else {
                append(result, tokens[at].text);
            }
            end = tokens[at].span.end;
            if (result.size() > maxText)
                return std::nullopt;
        }
        return result;
    }

    [[nodiscard]] std::optional<std::vector<std::string>>
    argumentsIn(const std::vector<Token>& tokens, std::size_t begin, std::size_t end,
                int depth) const {
        std::vector<std::string> arguments;
        std::string text;
        int brackets = 0;
        for (std::size_t at = begin; at < end; ++at) {
            const Token& token = tokens[at];
            brackets += token.is("(") ? 1 : token.is(")") ? -1 : 0;
            if (token.is(",") && brackets == 0) {
                arguments.push_back(text);
                text.clear();
                continue;
            }
            const bool isApart =
                at > begin && tokens[at - 1].span.end < token.span.begin && !text.empty();
            text += isApart ? " " : "";
            if (macroOf(token) == nullptr) {
                append(text, token.text);
                continue;
            }
            const auto inner = expanded(tokens, at, depth + 1);
            if (!inner)
                return std::nullopt;
            append(text, *inner);
        }
        if (begin < end)
            arguments.push_back(text);
        return arguments;
    }

    const MacroTable& macros_;
};

/// Returns the places where expressions and statements that come out of macros begin.
std::set<std::uint32_t> placesFromMacros(const FunctionBody& body) {
    std::set<std::uint32_t> places;
    for (const Expr& expr : body.exprs)
        if (expr.fromMacro)
            places.insert(expr.span.begin);
    for (const Stmt& stmt : body.stmts)
        if (stmt.fromMacro)
            places.insert(stmt.span.begin);
    return places;
}

} // namespace

std::vector<TextEdit> expandedMacros(const SkillContext& context) {
    const std::set<std::uint32_t> places = placesFromMacros(context.kernel.body);
    if (places.empty())
        return {};
    MacroTable macros;
    macros.addDefinitionsOf(context.shared().tokens());
    const MacroExpander expander(macros);
    const std::string_view text = context.file.source->text();
    const std::vector<Token> tokens = lex(text, context.kernel.bodySpan);
    std::vector<TextEdit> edits;
    for (std::size_t at = 0; at < tokens.size(); ++at) {
        const std::uint32_t begin = tokens[at].span.begin;
        if (!places.contains(begin))
            continue;
        const auto expanded = expander.expanded(tokens, at);
        if (!expanded)
            continue;
        std::string apart(text.substr(begin - 1, 1));
        append(apart, *expanded);
        edits.push_back({{begin, tokens[at].span.end}, apart.substr(1)});
    }
    return edits;
}

} // namespace kernelskill::skills
