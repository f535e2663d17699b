#include "skills/fast-math-intrinsics/float_decisions.h"

#include "analysis/model/scalar_kinds.h"
#include "analysis/syntax/statement_kinds.h"

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isInteger(ScalarKind scalar) {
    return scalar >= ScalarKind::Char && scalar <= ScalarKind::UInt64;
}

/// Tells which loops floating-point values end.
class FloatEnds {
public:
    explicit FloatEnds(const CodeMap& code) : code_(code), body_(code.body()) {}

    [[nodiscard]] bool end(StmtId loop) const {
        const Stmt& stmt = body_.stmt(loop);
        if (stmt.condition != noId && decide(loop, stmt.condition))
            return true;
        return std::ranges::any_of(code_.statementsIn(loop), [&](StmtId jump) {
            return leaves(jump, loop) && isGuarded(jump, loop);
        });
    }

private:
    [[nodiscard]] bool comparesFloats(ExprId id) const {
        const Expr& expr = body_.expr(id);
        return expr.kind == ExprKind::Binary &&
               (expr.op == "<" || expr.op == "<=" || expr.op == ">" || expr.op == ">=" ||
                expr.op == "==" || expr.op == "!=") &&
               std::ranges::any_of(expr.children, [&](ExprId operand) {
                   const Type& type = body_.expr(operand).type;
                   return type.pointerDepth == 0 &&
                          (type.scalar == ScalarKind::Float || type.scalar == ScalarKind::Double);
               });
    }

    [[nodiscard]] bool holdsComparison(ExprId expr) const {
        return std::ranges::any_of(code_.expressionsBelow(expr),
                                   [&](ExprId below) { return comparesFloats(below); });
    }

    /// Whether floating-point values decide the condition, which stands in the loop.
    [[nodiscard]] bool decide(StmtId loop, ExprId condition) const {
        return std::ranges::any_of(code_.expressionsBelow(condition), [&](ExprId below) {
            const Expr& expr = body_.expr(below);
            return comparesFloats(below) ||
                   (expr.kind == ExprKind::Variable && isSetByFloats(loop, expr.variable));
        });
    }

    /// Whether a comparison in the loop is what the variable is set to, or decides whether it is.
    [[nodiscard]] bool isSetByFloats(StmtId loop, VariableId variable) const {
        if (variable == noId)
            return false;
        const StmtId declaration = code_.declarationOf(variable);
        const ExprId init = body_.variable(variable).init;
        if (declaration != noId && code_.encloses(loop, declaration) && init != noId &&
            holdsComparison(init))
            return true;
        return std::ranges::any_of(code_.uses(variable), [&](ExprId use) {
            if (!code_.isWrite(use) || !code_.holds(loop, use))
                return false;
            ExprId whole = use;
            while (code_.parent(whole) != noId)
                whole = code_.parent(whole);
            return holdsComparison(whole) || isUnderComparison(code_.statement(use), loop);
        });
    }

    [[nodiscard]] bool isUnderComparison(StmtId stmt, StmtId loop) const {
        for (; stmt != noId && stmt != loop; stmt = body_.stmt(stmt).parent)
            if (body_.stmt(stmt).kind == StmtKind::If && body_.stmt(stmt).condition != noId &&
                holdsComparison(body_.stmt(stmt).condition))
                return true;
        return false;
    }

    /// Whether the statement is a `return`, or a `break` of this loop.
    [[nodiscard]] bool leaves(StmtId jump, StmtId loop) const {
        const StmtKind kind = body_.stmt(jump).kind;
        if (kind != StmtKind::Break)
            return kind == StmtKind::Return;
        StmtId around = body_.stmt(jump).parent;
        while (around != noId && !isLoop(body_.stmt(around).kind) &&
               body_.stmt(around).kind != StmtKind::Switch)
            around = body_.stmt(around).parent;
        return around == loop;
    }

    [[nodiscard]] bool isGuarded(StmtId jump, StmtId loop) const {
        for (StmtId stmt = jump; stmt != noId && stmt != loop; stmt = body_.stmt(stmt).parent)
            if (body_.stmt(stmt).kind == StmtKind::If && body_.stmt(stmt).condition != noId &&
                decide(loop, body_.stmt(stmt).condition))
                return true;
        return false;
    }

    const CodeMap& code_;
    const FunctionBody& body_;
};

} // namespace

StmtId loopThatFloatsEnd(const CodeMap& code) {
    const FloatEnds floats(code);
    for (StmtId id = 0; id < code.body().stmts.size(); ++id)
        if (isLoop(code.body().stmt(id).kind) && floats.end(id))
            return id;
    return noId;
}

ExprId floatMadeInteger(const CodeMap& code) {
    const FunctionBody& body = code.body();
    const auto isRounded = [&](ExprId value, const Type& target) {
        return value != noId && target.pointerDepth == 0 && isInteger(target.scalar) &&
               body.expr(value).kind != ExprKind::Floating &&
               body.expr(value).type.pointerDepth == 0 &&
               isFloatingScalar(body.expr(value).type.scalar);
    };
    for (ExprId id = 0; id < body.exprs.size(); ++id) {
        const Expr& expr = body.expr(id);
        const bool isRounding =
            expr.kind == ExprKind::Call &&
            (expr.name.starts_with("__float2") || expr.name.starts_with("__double2") ||
             expr.name.contains("lrint") || expr.name.contains("lround"));
        if ((isRounding || expr.kind == ExprKind::Cast) && !expr.children.empty() &&
            isRounded(expr.children.front(), expr.type))
            return id;
        if (expr.kind == ExprKind::Binary && expr.op == "=" &&
            isRounded(expr.children.back(), body.expr(expr.children.front()).type))
            return id;
    }
    const auto variable = std::ranges::find_if(body.variables, [&](const Variable& declared) {
        return declared.storage == Storage::Local && isRounded(declared.init, declared.type);
    });
    return variable == body.variables.end() ? noId : variable->init;
}

} // namespace kernelskill::skills
