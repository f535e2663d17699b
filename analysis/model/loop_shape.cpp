#include "analysis/model/loop_shape.h"

#include "analysis/model/integer_arithmetic.h"

#include <algorithm>

namespace kernelskill::analysis {

namespace {

/// A multiplicative loop with more iterations is not considered a counted loop.
constexpr int maximumRounds = 4096;

struct Step {
    VariableId variable = noId;
    std::string op;       ///< "+=", "-=", "*=", "/=", ">>=", "<<="
    ExprId amount = noId; ///< noId means one.
};

VariableId variableOf(const FunctionBody& body, ExprId expression) {
    while (expression != noId && body.expr(expression).kind == ExprKind::Cast)
        expression = body.expr(expression).children.front();
    return expression != noId && body.expr(expression).kind == ExprKind::Variable
               ? body.expr(expression).variable
               : noId;
}

/// Reads `i++`, `i += s` or `i = i * 2`.
Step stepOf(const FunctionBody& body, ExprId increment) {
    if (increment == noId)
        return {};
    const Expr& expr = body.expr(increment);
    if (isIncrement(expr))
        return {variableOf(body, expr.children[0]), expr.op.ends_with("++") ? "+=" : "-=", noId};
    if (!isAssignment(expr) || expr.children.size() != 2)
        return {};
    const VariableId target = variableOf(body, expr.children[0]);
    if (expr.op != "=")
        return {target, expr.op, expr.children[1]};
    const Expr& value = body.expr(expr.children[1]);
    if (value.kind != ExprKind::Binary || value.children.size() != 2)
        return {};
    const bool left = variableOf(body, value.children[0]) == target;
    const bool right = variableOf(body, value.children[1]) == target;
    if (left)
        return {target, value.op + "=", value.children[1]};
    if (right && (value.op == "+" || value.op == "*"))
        return {target, value.op + "=", value.children[0]};
    return {};
}

std::string mirrored(const std::string& comparison) {
    if (comparison == "<")
        return ">";
    if (comparison == "<=")
        return ">=";
    if (comparison == ">")
        return "<";
    return comparison == ">=" ? "<=" : comparison;
}

bool holds(const std::string& comparison, std::int64_t a, std::int64_t b) {
    if (comparison == "<")
        return a < b;
    if (comparison == "<=")
        return a <= b;
    if (comparison == ">")
        return a > b;
    if (comparison == ">=")
        return a >= b;
    return comparison == "!=" && a != b;
}

/// The leftmost comparison of `a && b`, because the left side is evaluated first.
ExprId comparisonOf(const FunctionBody& body, ExprId condition, VariableId variable) {
    if (condition == noId)
        return noId;
    const Expr& expr = body.expr(condition);
    if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
        return noId;
    if (expr.op == "&&") {
        const ExprId left = comparisonOf(body, expr.children[0], variable);
        return left != noId ? left : comparisonOf(body, expr.children[1], variable);
    }
    const bool compares =
        expr.op == "<" || expr.op == "<=" || expr.op == ">" || expr.op == ">=" || expr.op == "!=";
    const bool mentions = variableOf(body, expr.children[0]) == variable ||
                          variableOf(body, expr.children[1]) == variable;
    return compares && mentions ? condition : noId;
}

bool exitsEarly(const FunctionBody& body, StmtId statement, bool breakIsOurs) {
    const Stmt& stmt = body.stmt(statement);
    if (stmt.kind == StmtKind::Return || stmt.kind == StmtKind::Goto)
        return true;
    if (stmt.kind == StmtKind::Break)
        return breakIsOurs;
    const bool nested = stmt.kind == StmtKind::For || stmt.kind == StmtKind::While ||
                        stmt.kind == StmtKind::Do || stmt.kind == StmtKind::RangeFor ||
                        stmt.kind == StmtKind::Switch;
    return std::ranges::any_of(stmt.children, [&](StmtId child) {
        return exitsEarly(body, child, breakIsOurs && !nested);
    });
}

/// The only statement of a while body that advances `variable`, if it runs in every iteration.
Step stepInBody(const FunctionBody& body, StmtId bodyId, ExprId condition) {
    const Stmt& stmt = body.stmt(bodyId);
    Step found;
    for (const StmtId child : stmt.children) {
        const Stmt& inner = body.stmt(child);
        if (inner.kind != StmtKind::Expression)
            continue;
        Step step = stepOf(body, inner.expr);
        if (step.variable != noId && comparisonOf(body, condition, step.variable) != noId)
            found = std::move(step);
    }
    return found;
}

/// Returns `value` after one `op=`.
std::optional<std::int64_t> advance(std::string_view op, std::int64_t value, std::int64_t by) {
    return op.ends_with('=') ? integerResult(op.substr(0, op.size() - 1), value, by) : std::nullopt;
}

std::optional<std::int64_t> countRounds(const Loop& loop, std::int64_t from, std::int64_t to,
                                        std::int64_t by) {
    if (loop.step && *loop.step != 0 && loop.comparison != "!=") {
        if (!holds(loop.comparison, from, to))
            return 0;
        const bool inclusive = loop.comparison.ends_with('=');
        const std::int64_t distance = *loop.step > 0 ? to - from : from - to;
        const std::int64_t size = *loop.step > 0 ? *loop.step : -*loop.step;
        const bool towards = (*loop.step > 0) == loop.comparison.starts_with('<');
        if (!towards)
            return std::nullopt;
        return inclusive ? distance / size + 1 : (distance + size - 1) / size;
    }
    std::int64_t rounds = 0;
    for (std::int64_t value = from; holds(loop.comparison, value, to); ++rounds) {
        const std::optional<std::int64_t> next = advance(loop.stepOperator, value, by);
        if (!next || *next == value || rounds > maximumRounds)
            return std::nullopt;
        value = *next;
    }
    return rounds;
}

/// Sets the value before the loop: from the `for`'s own initialisation, or the value known on
/// entry.
void findStart(const FunctionBody& body, const Stmt& stmt, const IndexEvaluator& evaluator,
               Loop& loop) {
    if (stmt.init != noId) {
        const Stmt& init = body.stmt(stmt.init);
        if (init.kind == StmtKind::Declaration &&
            std::ranges::find(init.declared, loop.inductionVariable) != init.declared.end()) {
            loop.lowerBound = body.variable(loop.inductionVariable).init;
        } else if (init.kind == StmtKind::Expression && init.expr != noId) {
            const Expr& expr = body.expr(init.expr);
            if (expr.kind == ExprKind::Binary && expr.op == "=" &&
                variableOf(body, expr.children[0]) == loop.inductionVariable)
                loop.lowerBound = expr.children[1];
        }
    }
    if (loop.lowerBound != noId) {
        loop.start = evaluator.integer(loop.lowerBound);
        return;
    }
    const auto known = evaluator.environment().integers.find(loop.inductionVariable);
    const Symbol itself{SymbolKind::Opaque, loop.inductionVariable};
    if (known != evaluator.environment().integers.end() && !known->second.dependsOn(itself))
        loop.start = known->second;
}

} // namespace

Loop describeLoop(const FunctionBody& body, StmtId statement, const IndexEvaluator& evaluator) {
    const Stmt& stmt = body.stmt(statement);
    Loop loop;
    loop.statement = statement;
    loop.kind = stmt.kind == StmtKind::While ? LoopKind::While
                : stmt.kind == StmtKind::Do  ? LoopKind::Do
                                             : LoopKind::For;
    loop.body = stmt.children.empty() ? noId : stmt.children.front();
    if (loop.body == noId || stmt.kind == StmtKind::RangeFor)
        return loop;
    loop.hasEarlyExit = exitsEarly(body, loop.body, true);

    const bool stepsInHeader = stmt.kind == StmtKind::For && stmt.increment != noId;
    const Step step =
        stepsInHeader ? stepOf(body, stmt.increment) : stepInBody(body, loop.body, stmt.condition);
    if (step.variable == noId)
        return loop;
    const ExprId comparison = comparisonOf(body, stmt.condition, step.variable);
    if (comparison == noId && stmt.condition != noId &&
        variableOf(body, stmt.condition) != step.variable)
        return loop;
    loop.inductionVariable = step.variable;
    loop.stepOperator = step.op;
    findStart(body, stmt, evaluator, loop);
    const std::optional<IndexExpression> amount = step.amount == noId
                                                      ? std::optional(IndexExpression::constant(1))
                                                      : evaluator.integer(step.amount);
    loop.stepExpression = amount;
    const std::int64_t by = amount ? amount->asConstant().value_or(0) : 0; // 0 means not constant.
    if (by != 0 && (step.op == "+=" || step.op == "-="))
        loop.step = step.op == "+=" ? by : -by;

    std::optional<IndexExpression> end;
    if (comparison != noId) {
        const Expr& expr = body.expr(comparison);
        const bool onLeft = variableOf(body, expr.children[0]) == step.variable;
        loop.comparison = onLeft ? expr.op : mirrored(expr.op);
        loop.upperBound = expr.children[onLeft ? 1 : 0];
        end = evaluator.integer(loop.upperBound);
    } else if (stmt.condition != noId) { // For while (n).
        loop.comparison = "!=";
        end = IndexExpression::constant(0);
    }
    // The header gives the count only if nothing else ends the loop or changes its variable.
    const bool changedInside =
        stepsInHeader && evaluator.changedIn(loop.body).contains(step.variable);
    const bool headerDecides = comparison == stmt.condition || comparison == noId;
    if (!end || !loop.start || loop.hasEarlyExit || changedInside || !headerDecides ||
        loop.kind == LoopKind::Do)
        return loop;
    const std::optional<std::int64_t> first = loop.start->asConstant();
    const std::optional<std::int64_t> last = end->asConstant();
    if (first && last && by != 0)
        loop.tripCount = countRounds(loop, first.value_or(0), last.value_or(0), by);
    const IndexExpression one = IndexExpression::constant(1);
    if (loop.step == 1 && (loop.comparison == "<" || loop.comparison == "!="))
        loop.tripCountExpression = *end - *loop.start;
    else if (loop.step == 1 && loop.comparison == "<=")
        loop.tripCountExpression = *end - *loop.start + one;
    else if (loop.step == -1 && loop.comparison == ">")
        loop.tripCountExpression = *loop.start - *end;
    else if (loop.step == -1 && loop.comparison == ">=")
        loop.tripCountExpression = *loop.start - *end + one;
    return loop;
}

} // namespace kernelskill::analysis
