#include "skills/gates/power_stride.h"

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

std::optional<StrideChange> changeOf(const CodeMap& code, const Expr& change, VariableId stride) {
    const FunctionBody& body = code.body();
    const auto amount = code.constantValue(change.children[1]);
    if ((change.op == "/=" && amount == 2) || (change.op == ">>=" && amount == 1))
        return StrideChange::Halving;
    if ((change.op == "*=" && amount == 2) || (change.op == "<<=" && amount == 1))
        return StrideChange::Doubling;
    if (change.op == "+=" && code.namedVariable(change.children[1]) == stride)
        return StrideChange::Doubling;
    if (change.op != "=")
        return std::nullopt;
    const Expr& value = body.expr(code.withoutCasts(change.children[1]));
    if (value.kind == ExprKind::Binary && value.op == "*" &&
        code.namedVariable(value.children[1]) == stride &&
        code.constantValue(value.children[0]) == 2)
        return StrideChange::Doubling;
    if (value.kind != ExprKind::Binary || code.namedVariable(value.children[0]) != stride)
        return std::nullopt;
    const auto operand = code.constantValue(value.children[1]);
    if ((value.op == "/" && operand == 2) || (value.op == ">>" && operand == 1))
        return StrideChange::Halving;
    if ((value.op == "*" && operand == 2) || (value.op == "<<" && operand == 1))
        return StrideChange::Doubling;
    return std::nullopt;
}

} // namespace

ExprId valueSetByHead(const CodeMap& code, StmtId loop, VariableId variable) {
    const FunctionBody& body = code.body();
    const StmtId init = loop == noId ? noId : body.stmt(loop).init;
    if (init == noId || body.stmt(init).kind != StmtKind::Expression ||
        body.stmt(init).expr == noId)
        return noId;
    const Expr& expr = body.expr(body.stmt(init).expr);
    const bool isSet = expr.kind == ExprKind::Binary && expr.op == "=" &&
                       code.namedVariable(expr.children[0]) == variable;
    return isSet ? expr.children[1] : noId;
}

std::expected<PowerStride, std::string_view> readPowerStride(const CodeMap& code, ExprId change,
                                                             StmtId loop) {
    static constexpr std::string_view none = "has no stride that halves or doubles";
    const FunctionBody& body = code.body();
    if (change == noId || body.expr(change).kind != ExprKind::Binary ||
        !isAssignment(body.expr(change).op))
        return std::unexpected(none);
    const Expr& target = body.expr(body.expr(change).children[0]);
    if (target.kind != ExprKind::Variable || target.variable == noId)
        return std::unexpected(none);
    const auto direction = changeOf(code, body.expr(change), target.variable);
    if (!direction)
        return std::unexpected(none);
    const ExprId set = valueSetByHead(code, loop, target.variable);
    const auto writes = std::ranges::count_if(code.uses(target.variable), [&](ExprId use) {
        return code.isWrite(use) && (set == noId || code.holds(loop, use));
    });
    const ExprId start = set != noId ? set : body.variable(target.variable).init;
    if (writes != (set != noId ? 2 : 1) || start == noId)
        return std::unexpected("has a stride that other code changes too");
    return PowerStride{target.variable, *direction, start};
}

} // namespace kernelskill::skills
