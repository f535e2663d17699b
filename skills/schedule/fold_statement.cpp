#include "skills/schedule/fold_statement.h"

#include "skills/editing/operand_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class FoldStatement {
public:
    FoldStatement(const CodeMap& code, VariableId variable)
        : code_(code), body_(code.body()), variable_(variable) {}

    [[nodiscard]] std::string of(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.kind == StmtKind::If)
            return choice(stmt);
        if (stmt.kind != StmtKind::Expression || stmt.expr == noId)
            return {};
        const Expr& expr = body_.expr(stmt.expr);
        if (expr.kind == ExprKind::Unary && (expr.op == "++" || expr.op == "p++"))
            return names(expr.children[0]) ? "+" : "";
        if (expr.kind != ExprKind::Binary || !isAssignment(expr.op) || !names(expr.children[0]))
            return {};
        if (expr.op == "=")
            return chain(expr.children[1]);
        const std::string op = expr.op.substr(0, expr.op.size() - 1);
        const bool isOperator =
            op == "+" || op == "-" || op == "*" || op == "&" || op == "|" || op == "^";
        if (!isOperator || mentions(expr.children[1]))
            return {};
        return op == "-" ? "+" : op;
    }

private:
    [[nodiscard]] bool names(ExprId id) const {
        return body_.expr(id).kind == ExprKind::Variable && body_.expr(id).variable == variable_;
    }
    [[nodiscard]] bool mentions(ExprId id) const {
        const auto below = code_.expressionsBelow(id);
        return std::ranges::any_of(below, [&](ExprId each) { return names(each); });
    }

    /// Returns the operator of all expressions on the way to the variable, which is named once.
    [[nodiscard]] std::string chain(ExprId id) const {
        const Expr& expr = body_.expr(id);
        const bool isDifference = expr.kind == ExprKind::Binary && expr.op == "-";
        const std::string op = isDifference ? "+" : combiningOperator(expr);
        if (op.empty())
            return {};
        const bool isLeft = mentions(expr.children[0]);
        const ExprId inner = expr.children[isLeft ? 0 : 1];
        if (isLeft == mentions(expr.children[1]) || (isDifference && !isLeft))
            return {};
        return names(inner) || chain(inner) == op ? op : "";
    }

    /// `if (e > v) v = e;`
    [[nodiscard]] std::string choice(const Stmt& stmt) const {
        const Expr& condition = body_.expr(stmt.condition);
        const auto then = code_.statementsOf(stmt.children[0]);
        if (stmt.children.size() != 1 || condition.kind != ExprKind::Binary || then.size() != 1 ||
            body_.stmt(then[0]).kind != StmtKind::Expression)
            return {};
        const Expr& set = body_.expr(body_.stmt(then[0]).expr);
        const bool isLeft = names(condition.children[0]);
        const ExprId other = condition.children[isLeft ? 1 : 0];
        if (isLeft == names(condition.children[1]) || mentions(other) ||
            set.kind != ExprKind::Binary || set.op != "=" || !names(set.children[0]) ||
            !code_.sameExpression(set.children[1], other))
            return {};
        if (condition.op == "<" || condition.op == "<=")
            return isLeft ? "max" : "min";
        if (condition.op == ">" || condition.op == ">=")
            return isLeft ? "min" : "max";
        return {};
    }

    const CodeMap& code_;
    const FunctionBody& body_;
    VariableId variable_;
};

} // namespace

std::string combiningOperator(const Expr& expr) {
    if (expr.children.size() != 2)
        return {};
    if (expr.kind == ExprKind::Binary &&
        (expr.op == "+" || expr.op == "*" || expr.op == "&" || expr.op == "|" || expr.op == "^"))
        return expr.op;
    if (expr.kind != ExprKind::Call || expr.isMethod)
        return {};
    for (const char* op : {"min", "max"})
        if (expr.name == op || expr.name == "f" + std::string(op) ||
            expr.name == "f" + std::string(op) + "f" || expr.name == "std::" + std::string(op))
            return op;
    return {};
}

std::string foldOperatorAt(const CodeMap& code, ExprId use, VariableId variable) {
    const FoldStatement fold(code, variable);
    const StmtId statement = code.statement(use);
    if (statement == noId)
        return {};
    if (std::string op = fold.of(statement); !op.empty())
        return op;
    // The assignment under an if that compares.
    StmtId around = code.body().stmt(statement).parent;
    if (around != noId && code.body().stmt(around).kind == StmtKind::Compound)
        around = code.body().stmt(around).parent;
    return around != noId && code.body().stmt(around).kind == StmtKind::If ? fold.of(around) : "";
}

std::optional<RemainingOperands> operandsWithout(const CodeMap& code, const SourceText& source,
                                                 ExprId whole, ExprId taken) {
    if (whole == taken)
        return RemainingOperands{};
    const Expr& expr = code.body().expr(whole);
    const std::string op = combiningOperator(expr);
    if (op.empty() || expr.fromMacro)
        return std::nullopt;
    const auto holds = [&](ExprId child) {
        const auto below = code.expressionsBelow(child);
        return std::ranges::find(below, taken) != below.end();
    };
    const bool isLeft = holds(expr.children[0]);
    const ExprId other = expr.children[isLeft ? 1 : 0];
    const auto inner = operandsWithout(code, source, expr.children[isLeft ? 0 : 1], taken);
    if (!inner || holds(other) || (!inner->op.empty() && inner->op != op))
        return std::nullopt;
    const Expr& operand = code.body().expr(other);
    if (inner->text.empty())
        return RemainingOperands{op, std::string(source.slice(operand.span))};
    if (expr.kind == ExprKind::Call)
        return std::nullopt;
    const std::string added = besideProduct(source, operand);
    return RemainingOperands{op, isLeft ? fmt::format("{} {} {}", inner->text, op, added)
                                        : fmt::format("{} {} {}", added, op, inner->text)};
}

} // namespace kernelskill::skills
