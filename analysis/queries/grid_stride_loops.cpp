#include "analysis/queries/grid_stride_loops.h"

#include "analysis/queries/index_arithmetic.h"

namespace kernelskill::analysis {

std::optional<BoundsCheck> boundsCheck(const CodeMap& code, ExprId condition) {
    const Expr& expr = code.body().expr(condition);
    if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
        return std::nullopt;
    const ExprId left = expr.children[0];
    const ExprId right = expr.children[1];
    const auto check = [&](ExprId variable, ExprId limit,
                           bool whenTrue) -> std::optional<BoundsCheck> {
        const Expr& name = code.body().expr(variable);
        if (name.kind != ExprKind::Variable || name.variable == noId)
            return std::nullopt;
        return BoundsCheck{name.variable, limit, whenTrue};
    };
    if (expr.op == "<")
        return check(left, right, true);
    if (expr.op == ">")
        return check(right, left, true);
    if (expr.op == ">=")
        return check(left, right, false);
    if (expr.op == "<=")
        return check(right, left, false);
    return std::nullopt;
}

std::vector<GridStrideLoop> findGridStrideLoops(const KernelModel& kernel, const CodeMap& code) {
    const FunctionBody& body = code.body();
    std::vector<GridStrideLoop> found;
    for (std::uint32_t i = 0; i < kernel.loops.size(); ++i) {
        const Loop& loop = kernel.loops[i];
        const Stmt& stmt = body.stmt(loop.statement);
        if (loop.kind != LoopKind::For || stmt.init == noId || stmt.condition == noId ||
            stmt.increment == noId)
            continue;
        const auto check = boundsCheck(code, stmt.condition);
        const Expr& increment = body.expr(stmt.increment);
        if (!check || !check->whenTrue || increment.kind != ExprKind::Binary ||
            increment.op != "+=" || code.namedVariable(increment.children[0]) != check->variable)
            continue;
        const Variable& index = body.variable(check->variable);
        if (code.declarationOf(check->variable) != stmt.init || index.init == noId)
            continue;
        const auto start = polynomialOf(code, index.init);
        const auto stride = polynomialOf(code, increment.children[1]);
        if (start == flatThreadIndex() && stride == flatThreadCount())
            found.push_back({i, check->variable, check->limit});
    }
    return found;
}

} // namespace kernelskill::analysis
