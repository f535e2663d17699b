#include "analysis/model/dependence.h"

#include "analysis/model/known_functions.h"

namespace kernelskill::analysis {

namespace {

bool isThreadRank(const Expr& call) {
    return call.name == "thread_rank" || call.name == "thread_index" ||
           call.name == "meta_group_rank";
}

bool isMemory(const FunctionBody& body, const Expr& expr) {
    if (expr.kind == ExprKind::Unary)
        return expr.op == "*";
    if (expr.kind != ExprKind::Subscript)
        return false;
    // An element of a thread's own array counts as a variable.
    const VariableId root = rootVariable(body, expr.children.front());
    return root == noId || body.variable(root).storage != Storage::Local ||
           body.variable(root).type.arrayExtents.empty();
}

} // namespace

bool isOpaque(const Expr& expr) {
    return expr.kind == ExprKind::Other &&
           (expr.name == "lambda" || expr.name == "statement-expression" ||
            expr.name == omittedCode);
}

VariableId rootVariable(const FunctionBody& body, ExprId lvalue) {
    while (lvalue != noId) {
        const Expr& expr = body.expr(lvalue);
        if (expr.kind == ExprKind::Variable)
            return expr.variable;
        const bool through = expr.kind == ExprKind::Member || expr.kind == ExprKind::Subscript ||
                             expr.kind == ExprKind::Cast ||
                             (expr.kind == ExprKind::Unary && (expr.op == "*" || expr.op == "&"));
        if (!through || expr.children.empty())
            return noId;
        lvalue = expr.children.front();
    }
    return noId;
}

DependenceAnalysis::DependenceAnalysis(const FunctionBody& body)
    : body_(body), changes_(body.variables.size(), 0), variables_(body.variables.size()) {
    collect();
    propagate();
}

void DependenceAnalysis::propagate() {
    std::vector<Dependence> own(body_.variables.size()); // By what the values say themselves.
    std::vector<std::vector<VariableId>> targets(body_.variables.size());
    std::vector<ExprId> pending;
    for (const auto& [target, value] : assignments_) {
        own[target] = own[target] | of(value);
        pending.assign(1, value);
        while (!pending.empty()) {
            const Expr& expr = body_.expr(pending.back());
            pending.pop_back();
            if (expr.kind == ExprKind::Variable && expr.variable != noId)
                targets[expr.variable].push_back(target);
            pending.insert(pending.end(), expr.children.begin(), expr.children.end());
        }
    }
    std::vector<VariableId> changed;
    const auto join = [&](VariableId variable, Dependence more) {
        const Dependence joined = variables_[variable] | more;
        if (joined == variables_[variable])
            return;
        variables_[variable] = joined;
        changed.push_back(variable);
    };
    for (VariableId variable = 0; variable < own.size(); ++variable)
        join(variable, own[variable]);
    while (!changed.empty()) {
        const VariableId variable = changed.back();
        changed.pop_back();
        for (const VariableId target : targets[variable])
            join(target, variables_[variable]);
    }
}

void DependenceAnalysis::change(ExprId target, ExprId value) {
    const VariableId variable = rootVariable(body_, target);
    if (variable == noId)
        return;
    const Expr& expr = body_.expr(target);
    const Type& type = body_.variable(variable).type;
    // `*p = 1` and `p[i] = 1` change the memory behind p, not p.
    const bool throughPointer = expr.kind != ExprKind::Variable && type.pointerDepth > 0 &&
                                type.arrayExtents.empty() &&
                                body_.variable(variable).storage != Storage::Shared;
    if (throughPointer)
        return;
    ++changes_[variable];
    if (value != noId)
        assignments_.push_back({variable, value});
}

void DependenceAnalysis::collect() {
    for (VariableId id = 0; id < body_.variables.size(); ++id)
        if (body_.variables[id].init != noId)
            assignments_.push_back({id, body_.variables[id].init});
    for (const Expr& expr : body_.exprs) {
        if (isAssignment(expr) && expr.children.size() == 2)
            change(expr.children[0], expr.children[1]);
        else if (isIncrement(expr) && !expr.children.empty())
            change(expr.children[0], noId);
        else if (expr.kind == ExprKind::Unary && expr.op == "&" && !expr.children.empty() &&
                 body_.expr(expr.children[0]).kind == ExprKind::Variable)
            change(expr.children[0], noId);
        else if (isOpaque(expr))
            for (const ExprId mentioned : expr.children)
                change(mentioned, mentioned);
    }
    for (const Stmt& stmt : body_.stmts) {
        if (stmt.kind != StmtKind::Asm)
            continue;
        for (const StmtId operand : stmt.children)
            if (const ExprId expr = body_.stmt(operand).expr; expr != noId)
                change(expr, expr);
    }
}

Dependence DependenceAnalysis::of(ExprId expression) const {
    if (expression == noId)
        return {};
    const Expr& expr = body_.expr(expression);
    Dependence result;
    switch (expr.kind) {
    case ExprKind::BuiltinIndex:
        result.onThread = expr.name == "threadIdx";
        break;
    case ExprKind::Variable:
        if (expr.variable != noId)
            result = variables_[expr.variable];
        break;
    case ExprKind::Call:
        result.onThread = isThreadRank(expr) || isAtomic(expr.name) || warpOperation(expr.name);
        result.onData = isAtomic(expr.name) || cachedAccess(expr.name) || warpOperation(expr.name);
        break;
    default:
        result.onData = isMemory(body_, expr);
        break;
    }
    for (const ExprId child : expr.children)
        result = result | of(child);
    return result;
}

} // namespace kernelskill::analysis
