#include "analysis/queries/condition_bounds.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace kernelskill::analysis {
namespace {

/// Adds what follows for variables if `condition` holds, or if it does not.
void addBounds(const CodeMap& code, ExprId condition, bool holds,
               std::vector<ConditionBound>& bounds) {
    const Expr& expr = code.body().expr(condition);
    if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
        return;
    if (expr.op == (holds ? "&&" : "||")) {
        addBounds(code, expr.children[0], holds, bounds);
        addBounds(code, expr.children[1], holds, bounds);
        return;
    }
    struct Comparison {
        std::string_view op;
        std::string_view mirrored;
        std::string_view opposite;
    };
    constexpr std::array<Comparison, 4> comparisons = {
        {{"<", ">", ">="}, {"<=", ">=", ">"}, {">", "<", "<="}, {">=", "<=", "<"}}};
    const auto named = [&](std::string_view op) {
        return std::ranges::find(comparisons, op, &Comparison::op);
    };
    auto found = named(expr.op);
    if (found != comparisons.end() && !holds)
        found = named(found->opposite);
    if (found == comparisons.end())
        return;
    const auto plainName = [&](ExprId side) {
        const Expr& at = code.body().expr(side);
        return at.kind == ExprKind::Variable ? at.variable : noId;
    };
    if (const VariableId left = plainName(expr.children[0]); left != noId)
        bounds.push_back({left, found->op, expr.children[1]});
    if (const VariableId right = plainName(expr.children[1]); right != noId)
        bounds.push_back({right, found->mirrored, expr.children[0]});
}

/// Whether nothing behind the statement runs in the block that it stands in.
bool leavesBlock(const FunctionBody& body, StmtId id) {
    const Stmt& stmt = body.stmt(id);
    if (stmt.kind == StmtKind::Compound)
        return !stmt.children.empty() && leavesBlock(body, stmt.children.back());
    return stmt.kind == StmtKind::Return || stmt.kind == StmtKind::Continue ||
           stmt.kind == StmtKind::Break;
}

} // namespace

std::vector<ConditionBound> boundsAround(const CodeMap& code, ExprId use) {
    const FunctionBody& body = code.body();
    std::vector<ConditionBound> bounds;
    StmtId inner = code.statement(use);
    for (StmtId at = inner; at != noId; inner = at, at = body.stmt(at).parent) {
        const Stmt& stmt = body.stmt(at);
        if (stmt.kind == StmtKind::If && at != inner && !stmt.children.empty() &&
            stmt.children[0] == inner && stmt.condition != noId)
            addBounds(code, stmt.condition, true, bounds);
        if (stmt.kind != StmtKind::Compound)
            continue;
        const std::size_t own = bounds.size();
        for (const StmtId before : stmt.children) {
            const Stmt& exit = body.stmt(before);
            if (exit.kind == StmtKind::Case || exit.kind == StmtKind::Other)
                bounds.resize(own); // A jump leads here.
            if (before == inner)
                break;
            if (exit.kind == StmtKind::If && exit.condition != noId && exit.children.size() == 1 &&
                leavesBlock(body, exit.children[0]))
                addBounds(code, exit.condition, false, bounds);
        }
    }
    return bounds;
}

} // namespace kernelskill::analysis
