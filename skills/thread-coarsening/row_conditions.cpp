#include "skills/thread-coarsening/row_conditions.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/syntax/comparison.h"

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The row, or the row and a constant. Compared with `bound`.
bool isShiftedRow(const CodeMap& code, ExprId expr, ExprId bound, VariableId row) {
    if (code.namedVariable(expr) == row)
        return true;
    const FunctionBody& body = code.body();
    const Expr& sum = body.expr(code.withoutCasts(expr));
    if (sum.kind != ExprKind::Binary || (sum.op != "+" && sum.op != "-") ||
        sum.children.size() != 2)
        return false;
    const bool mayWrap = sum.op == "-" && (isUnsignedIndexType(sum.type) ||
                                           isUnsignedIndexType(body.expr(bound).type));
    if (mayWrap)
        return false;
    if (code.namedVariable(sum.children[0]) == row)
        return code.constantValue(sum.children[1]).has_value();
    return sum.op == "+" && code.namedVariable(sum.children[1]) == row &&
           code.constantValue(sum.children[0]).has_value();
}

} // namespace

bool names(const CodeMap& code, ExprId expr, VariableId variable) {
    return std::ranges::any_of(code.expressionsBelow(expr), [&](ExprId id) {
        return code.body().expr(id).kind == ExprKind::Variable &&
               code.body().expr(id).variable == variable;
    });
}

std::optional<RowComparison> rowComparison(const CodeMap& code, ExprId condition, VariableId row) {
    const Expr& expr = code.body().expr(condition);
    if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
        return std::nullopt;
    return rowComparison(code, expr.children[0], expr.op, expr.children[1], row);
}

std::optional<RowComparison> rowComparison(const CodeMap& code, ExprId left, std::string_view op,
                                           ExprId right, VariableId row) {
    const FunctionBody& body = code.body();
    if (oppositeOperator(op).empty() || !isIndexType(body.expr(left).type) ||
        !isIndexType(body.expr(right).type))
        return std::nullopt;
    const auto isRowAgainst = [&](ExprId side, ExprId bound) {
        return isShiftedRow(code, side, bound, row) && !names(code, bound, row) &&
               !body.expr(side).fromMacro;
    };
    if (isRowAgainst(left, right))
        return RowComparison{left, right, mirroredOperator(mirroredOperator(op))};
    if (isRowAgainst(right, left))
        return RowComparison{right, left, mirroredOperator(op)};
    return std::nullopt;
}

RowCondition holdsForAll(const RowComparison& comparison) {
    const auto test = [&](std::string_view op, TestedRow row) {
        return RowTest{comparison.rowSide, op, comparison.bound, row};
    };
    if (comparison.op.starts_with('<'))
        return {test(comparison.op, TestedRow::Last)};
    if (comparison.op.starts_with('>'))
        return {test(comparison.op, TestedRow::First)};
    if (comparison.op == "!=")
        return {test("<", TestedRow::Last), test(">", TestedRow::First)};
    return {}; // No two rows are equal to one number.
}

} // namespace kernelskill::skills
