#include "skills/schedule/named_positions.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/source_layout.h"
#include "skills/editing/fresh_names.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

namespace {

IndexExpression positionAlong(std::uint8_t axis) {
    const auto symbol = [&](SymbolKind kind) { return IndexExpression::symbol({kind, axis}); };
    return symbol(SymbolKind::BlockIdx) * symbol(SymbolKind::BlockDim) +
           symbol(SymbolKind::ThreadIdx);
}

/// The span with all parentheses around it that hold nothing else and belong to no call or
/// statement.
Span withAllParentheses(std::string_view text, Span span) {
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

/// The sums that are the position along the axis, if the text spells each out; none of them is a
/// variable's value.
std::vector<ExprId> positionsAlong(const CodeMap& code, std::uint8_t axis) {
    const FunctionBody& body = code.body();
    const IndexExpression position = positionAlong(axis);
    std::vector<ExprId> found;
    for (ExprId id = 0; id < body.exprs.size(); ++id) {
        const Expr& expr = body.expr(id);
        if (expr.kind != ExprKind::Binary || expr.op != "+" || polynomialOf(code, id) != position)
            continue;
        const bool isValue = std::ranges::any_of(body.variables, [&](const Variable& variable) {
            return variable.init != noId && code.withoutCasts(variable.init) == id;
        });
        const bool isSpelled = std::ranges::all_of(code.expressionsBelow(id), [&](ExprId part) {
            return !body.expr(part).fromMacro && body.expr(part).kind != ExprKind::Variable;
        });
        const bool isAlike =
            found.empty() ||
            (isIndexType(expr.type) && expr.type.scalar == body.expr(found.front()).type.scalar);
        if (isValue || !isSpelled || !isAlike)
            return {};
        found.push_back(id);
    }
    return found;
}

} // namespace

std::vector<TextEdit> namedPositions(const SkillContext& context) {
    const CodeMap& code = context.code();
    const FunctionBody& body = code.body();
    const SourceText& source = *context.file.source;
    const SourceLayout layout(source, context.kernel);
    const bool isPlane = !positionsAlong(code, 1).empty();
    const std::array<std::string, 3> usual = {isPlane ? "column" : "i", "row", "plane"};
    FreshNames names(body);
    std::vector<TextEdit> edits;
    std::string lines;
    for (const std::uint8_t axis : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{2}}) {
        const std::vector<ExprId> positions = positionsAlong(code, axis);
        if (positions.size() < 2)
            continue;
        const Expr& first = body.expr(positions.front());
        const std::string name = names.add(usual[axis]);
        lines +=
            fmt::format("{}{}const {} {} = {};", layout.newline(), layout.unit(),
                        first.type.scalar == ScalarKind::UInt32 ? "unsigned" : first.type.spelling,
                        name, source.slice(first.span));
        for (const ExprId position : positions)
            edits.push_back({withAllParentheses(source.text(), body.expr(position).span), name});
    }
    if (edits.empty())
        return {};
    const std::uint32_t begin = context.kernel.bodySpan.begin + 1;
    edits.push_back({{begin, begin}, lines});
    return edits;
}

} // namespace kernelskill::skills
