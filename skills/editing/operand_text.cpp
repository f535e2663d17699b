#include "skills/editing/operand_text.h"

#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

std::string enclosedIf(bool isOpen, const SourceText& source, const Expr& expr) {
    const std::string text(source.slice(expr.span));
    return isOpen ? "(" + text + ")" : text;
}

} // namespace

std::string besideProduct(const SourceText& source, const Expr& expr) {
    const bool isOpen = expr.kind == ExprKind::Binary || expr.kind == ExprKind::Conditional;
    return enclosedIf(isOpen, source, expr);
}

std::string besideComparison(const SourceText& source, const Expr& expr) {
    constexpr std::array<std::string_view, 5> arithmetic = {"+", "-", "*", "/", "%"};
    const bool isOpen = expr.kind == ExprKind::Conditional ||
                        (expr.kind == ExprKind::Binary &&
                         std::ranges::find(arithmetic, expr.op) == arithmetic.end());
    return enclosedIf(isOpen, source, expr);
}

bool standsAlone(const CodeMap& code, ExprId use) {
    const ExprId parent = code.parent(use);
    if (parent == noId)
        return true;
    const Expr& above = code.body().expr(parent);
    return (above.kind == ExprKind::Subscript || above.op == "=") && above.children[1] == use;
}

Span withParentheses(const SourceText& source, Span span) {
    constexpr std::array<std::string_view, 12> operators = {
        "+", "-", "*", "/", "=", "+=", "-=", "*=", "/=", "return", "?", ":"};
    const std::string_view text = source.text();
    const std::vector<Token> tokens =
        lex(text, {span.begin > 64 ? span.begin - 64 : 0, span.begin});
    const std::uint32_t next = skipTrivia(text, span.end);
    if (tokens.size() < 2 || !tokens.back().is("(") || next >= text.size() || text[next] != ')' ||
        std::ranges::none_of(
            operators, [&](std::string_view word) { return tokens[tokens.size() - 2].is(word); }))
        return span;
    return {tokens.back().span.begin, next + 1};
}

Span withAllParentheses(const SourceText& source, Span span) {
    const std::string_view text = source.text();
    const auto isBlank = [&](std::uint32_t at) { return text[at] == ' ' || text[at] == '\t'; };
    while (true) {
        std::uint32_t begin = span.begin;
        std::uint32_t end = span.end;
        while (begin > 0 && isBlank(begin - 1))
            --begin;
        while (end < text.size() && isBlank(end))
            ++end;
        if (begin == 0 || end >= text.size() || text[begin - 1] != '(' || text[end] != ')')
            return span;
        std::uint32_t before = begin - 1;
        while (before > 0 && isBlank(before - 1))
            --before;
        const char last = before > 0 ? text[before - 1] : ';';
        if (std::isalnum(static_cast<unsigned char>(last)) != 0 ||
            std::string_view("_)]>").contains(last))
            return span;
        span = {begin - 1, end + 1};
    }
}

} // namespace kernelskill::skills
