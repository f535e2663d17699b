#include "skills/schedule/named_positions.h"

#include "analysis/queries/index_arithmetic.h"
#include "skills/editing/fresh_names.h"
#include "skills/editing/operand_text.h"
#include "skills/schedule/draft.h"
#include "skills/schedule/fold_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace kernelskill::skills {

using namespace analysis;

namespace {

IndexExpression positionAlong(std::uint8_t axis) {
    const auto symbol = [&](SymbolKind kind) { return IndexExpression::symbol({kind, axis}); };
    return symbol(SymbolKind::BlockIdx) * symbol(SymbolKind::BlockDim) +
           symbol(SymbolKind::ThreadIdx);
}

/// Returns the sums that compute the position along the axis. Empty if one of them names a
/// variable, or is the value of one.
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
    const bool isPlane = !positionsAlong(code, 1).empty();
    const std::array<std::string, 3> usual = {isPlane ? "column" : "i", "row", "plane"};
    FreshNames names(body);
    Draft draft(context);
    std::vector<std::string> lines;
    for (const std::uint8_t axis : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{2}}) {
        const std::vector<ExprId> positions = positionsAlong(code, axis);
        if (positions.size() < 2)
            continue;
        const Expr& first = body.expr(positions.front());
        const std::string name = names.add(usual[axis]);
        lines.push_back(
            fmt::format("const {} {} = {};",
                        first.type.scalar == ScalarKind::UInt32 ? "unsigned" : first.type.spelling,
                        name, source.slice(first.span)));
        for (const ExprId position : positions)
            draft.replace(withAllParentheses(source, body.expr(position).span), name);
    }
    if (!lines.empty())
        writeHead(draft, context, lines);
    return draft.edits();
}

} // namespace kernelskill::skills
