/// Fixes commas, semicolons and quotes that are missing or confused.
#include "engine/repair/compile_fixes/function_tokens.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>
#include <string>

namespace kernelskill::engine {
namespace {

using analysis::Diagnostic;
using analysis::Token;
using analysis::TokenKind;

bool endsOperand(const Token& token) {
    return token.kind == TokenKind::Number || token.kind == TokenKind::String ||
           token.kind == TokenKind::Identifier || token.text == ")" || token.text == "]";
}

bool startsOperand(const Token& token) {
    return token.kind == TokenKind::Number || token.kind == TokenKind::String ||
           token.kind == TokenKind::Identifier || token.text == "(" || token.text == "&";
}

/// For `f(a b)`: adds a comma between adjacent operands.
void addCommas(const RepairContext& context, TokenRange statement,
               std::vector<FixCandidate>& candidates) {
    static const std::set<std::string_view> words{
        "const",  "unsigned",   "int",        "float",      "double", "return", "template", "long",
        "static", "__global__", "__device__", "__shared__", "extern", "else",   "typename"};
    for (std::size_t index = statement.begin; index + 1 < statement.end; ++index) {
        const Token& token = context.tokens[index];
        const Token& next = context.tokens[index + 1];
        bool isCall = token.kind == TokenKind::Identifier && next.text == "(";
        if (endsOperand(token) && startsOperand(next) && !isCall && !words.contains(token.text))
            candidates.push_back(
                insertion("missing-comma", token.span.end, ",", "insert ','", Ladder::Comma));
    }
}

/// For `for (int i = 0, i < n; ++i)`.
void addHeaderSemicolons(const RepairContext& context, TokenRange statement,
                         std::vector<FixCandidate>& candidates) {
    for (std::size_t index = statement.begin; index + 1 < statement.end; ++index) {
        if (context.tokens[index].text != "for" || context.tokens[index + 1].text != "(")
            continue;
        std::size_t close = analysis::matchingBracket(context.tokens, index + 1);
        int depth = 0;
        std::size_t semicolons = 0;
        std::vector<std::size_t> commas;
        for (std::size_t inside = index + 2; inside < std::min(close, statement.end); ++inside) {
            std::string_view text = context.tokens[inside].text;
            depth += text == "(" || text == "[" ? 1 : text == ")" || text == "]" ? -1 : 0;
            semicolons += depth == 0 && text == ";" ? 1 : 0;
            if (depth == 0 && text == ",")
                commas.push_back(inside);
        }
        for (std::size_t comma : commas)
            if (semicolons < 2)
                candidates.push_back({"missing-semicolon",
                                      "change ',' to ';'",
                                      {{context.tokens[comma].span, ";"}},
                                      Ladder::ForHeader});
    }
}

/// Closes a literal that the line end cuts off, at each possible place. The likeliest place, by the
/// printf conversions in the literal, comes first.
void addQuotes(const RepairContext& context, TokenRange statement,
               std::vector<FixCandidate>& candidates) {
    for (std::size_t index = statement.begin; index < statement.end; ++index) {
        const Token& token = context.tokens[index];
        bool isOpen = token.kind == TokenKind::String && token.text.starts_with('"') &&
                      (token.text.size() == 1 || !token.text.ends_with('"'));
        if (!isOpen)
            continue;
        std::vector<std::uint32_t> places;
        int conversions = 0;
        for (std::size_t letter = 1; letter < token.text.size(); ++letter) {
            char character = token.text[letter];
            bool isPercent = character == '%' && letter + 1 < token.text.size() &&
                             token.text[letter + 1] != '%' && token.text[letter - 1] != '%';
            conversions += isPercent ? 1 : 0;
            if (character == ',' || character == ')' || character == ';')
                places.push_back(token.span.begin + static_cast<std::uint32_t>(letter));
        }
        auto rank = [&](std::uint32_t place) {
            std::string_view behind = context.slice({place, token.span.end});
            auto commas = std::ranges::count(behind, ',');
            bool endsCall = behind == ");" || behind == ")";
            return std::pair(commas == conversions ? 0 : 1, endsCall ? 0 : 1);
        };
        std::ranges::stable_sort(places, {}, rank);
        for (std::uint32_t place : places)
            candidates.push_back(
                insertion("missing-quote", place, "\"", "insert '\"'", Ladder::Quote));
    }
}

/// Completes an earlier line whose end cannot end a statement.
void addLineEnds(const RepairContext& context, const Diagnostic& error,
                 std::vector<FixCandidate>& candidates) {
    constexpr std::size_t maxLines = 3;
    std::size_t lines = 0;
    std::size_t index = std::min(context.tokenAt(error.span.begin), context.tokens.size() - 1);
    for (; index > 0 && lines < maxLines; --index) {
        const Token& last = context.tokens[index - 1];
        const Token& first = context.tokens[index];
        bool isLineEnd = context.lineOf(last.span.end) != context.lineOf(first.span.begin);
        if (!isLineEnd || last.kind == TokenKind::Directive)
            continue;
        ++lines;
        bool mayEnd = endsOperand(last) || last.text == "}";
        if (mayEnd)
            candidates.push_back(insertion("missing-semicolon", last.span.end, ";", "insert ';'"));
    }
}

} // namespace

std::vector<FixCandidate> separatorFixes(const RepairContext& context, const Diagnostic& error) {
    std::vector<FixCandidate> candidates;
    TokenRange statement = statementLines(context, error.span.begin);
    if (statement.isEmpty())
        return candidates;
    const std::string& message = error.message;
    addQuotes(context, statement, candidates);
    addHeaderSemicolons(context, statement, candidates);
    bool isSyntax =
        message.starts_with("expected") || message.find("type specifier") != message.npos;
    if (isSyntax) {
        addCommas(context, statement, candidates);
        addLineEnds(context, error, candidates);
    }
    return candidates;
}

} // namespace kernelskill::engine
