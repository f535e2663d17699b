#include "analysis/model/fact_collector.h"

#include "analysis/model/known_functions.h"
#include "analysis/model/leaving.h"
#include "analysis/model/loop_shape.h"

#include <algorithm>
#include <utility>

namespace kernelskill::analysis {

FactCollector::FactCollector(KernelModel& function,
                             std::function<const CallEffect*(ExprId)> effectOf)
    : function_(function), body_(function.body), effectOf_(std::move(effectOf)),
      dependence_(function.body), evaluator_(function.body, dependence_) {}

void FactCollector::run() {
    noteSharedArrays();
    if (body_.root != noId)
        walk(body_.root);
}

void FactCollector::noteSharedArrays() {
    for (VariableId id = 0; id < body_.variables.size(); ++id) {
        const Variable& variable = body_.variables[id];
        if (variable.storage == Storage::Shared)
            function_.sharedArrays.push_back({id, false, variable.type.size});
        else if (variable.storage == Storage::DynamicShared)
            function_.sharedArrays.push_back({id, true, 0});
    }
}

void FactCollector::walk(StmtId statement) {
    const Stmt& stmt = body_.stmt(statement);
    switch (stmt.kind) {
    case StmtKind::If:
        walkIf(statement);
        return;
    case StmtKind::For:
    case StmtKind::RangeFor:
    case StmtKind::While:
    case StmtKind::Do:
        walkLoop(statement);
        return;
    case StmtKind::Switch:
        walkSwitch(statement);
        return;
    case StmtKind::Declaration:
        for (const VariableId variable : stmt.declared) {
            visit(body_.variable(variable).init);
            evaluator_.declare(variable);
        }
        return;
    case StmtKind::Asm:
        for (const StmtId operand : stmt.children) {
            const ExprId expr = body_.stmt(operand).expr;
            visit(expr, Use::ReadWrite);
            if (const VariableId variable = expr == noId ? noId : rootVariable(body_, expr);
                variable != noId) {
                evaluator_.forget(variable);
                markParameter(variable, {true, true, true});
            }
        }
        return;
    default:
        visit(stmt.expr);
        for (const StmtId child : stmt.children)
            walk(child);
        return;
    }
}

void FactCollector::addBranch(StmtId statement, ExprId condition) {
    const Dependence dependence = dependence_.of(condition);
    Branch branch;
    branch.statement = statement;
    branch.dependsOnThread = dependence.onThread;
    branch.dependsOnData = dependence.onData;
    branch.isBoundsGuard = isBoundsGuard(body_.stmt(statement));
    function_.branches.push_back(branch);
}

void FactCollector::walkIf(StmtId statement) {
    const Stmt& stmt = body_.stmt(statement);
    if (stmt.init != noId)
        walk(stmt.init);
    for (const VariableId variable : stmt.declared) {
        visit(body_.variable(variable).init);
        evaluator_.declare(variable);
    }
    visit(stmt.condition);
    addBranch(statement, stmt.condition);
    const Dependence dependence = dependence_.of(stmt.condition);
    const bool divergent = dependence.onThread || dependence.onData;
    conditions_.push_back(statement);
    divergence_ += divergent ? 1 : 0;
    const Environment before = evaluator_.environment();
    std::optional<Environment> joined;
    const auto finishArm = [&](bool falls) {
        if (!falls)
            return;
        if (joined)
            evaluator_.join(*joined);
        joined = evaluator_.environment();
    };
    for (const StmtId arm : stmt.children) {
        evaluator_.restore(before);
        walk(arm);
        finishArm(!leaves(body_, arm));
    }
    if (stmt.children.size() < 2) {
        evaluator_.restore(before);
        finishArm(true);
    }
    evaluator_.restore(std::move(joined).value_or(before));
    divergence_ -= divergent ? 1 : 0;
    conditions_.pop_back();
}

void FactCollector::walkSwitch(StmtId statement) {
    const Stmt& stmt = body_.stmt(statement);
    visit(stmt.condition);
    addBranch(statement, stmt.condition);
    const Dependence dependence = dependence_.of(stmt.condition);
    const bool divergent = dependence.onThread || dependence.onData;
    for (const VariableId variable : evaluator_.changedIn(statement))
        evaluator_.forget(variable);
    divergence_ += divergent ? 1 : 0;
    for (const StmtId child : stmt.children)
        walk(child);
    divergence_ -= divergent ? 1 : 0;
    for (const VariableId variable : evaluator_.changedIn(statement))
        evaluator_.forget(variable);
}

void FactCollector::walkLoop(StmtId statement) {
    const Stmt& stmt = body_.stmt(statement);
    Loop loop = describeLoop(body_, statement, evaluator_);
    loop.parent = loops_.empty() ? noId : loops_.back();
    loop.depth = static_cast<std::uint32_t>(loops_.size());
    if (stmt.init != noId)
        walk(stmt.init);
    for (const VariableId variable : stmt.declared)
        evaluator_.declare(variable);
    const std::set<VariableId> changed = evaluator_.changedIn(statement);
    for (const VariableId variable : changed)
        evaluator_.forget(variable);
    if (loop.inductionVariable != noId)
        evaluator_.bindLoopVariable(loop.inductionVariable);
    const VariableId induction = loop.inductionVariable;
    const auto index = static_cast<std::uint32_t>(function_.loops.size());
    function_.loops.push_back(std::move(loop));

    const Dependence dependence = dependence_.of(stmt.condition);
    const bool divergent = dependence.onThread || dependence.onData;
    loops_.push_back(index);
    divergence_ += divergent ? 1 : 0;
    visit(stmt.condition);
    for (const StmtId child : stmt.children)
        walk(child);
    visit(stmt.increment);
    divergence_ -= divergent ? 1 : 0;
    loops_.pop_back();
    for (const VariableId variable : changed)
        evaluator_.forget(variable);
    if (induction != noId)
        evaluator_.forget(induction);
}

/// Whether the condition is like `i < n`: a thread's index on one side, and on the other a bound
/// that is the same for all threads.
bool FactCollector::comparesWithBound(ExprId condition) const {
    const Expr& expr = body_.expr(condition);
    if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
        return false;
    if (expr.op == "&&" || expr.op == "||")
        return comparesWithBound(expr.children[0]) && comparesWithBound(expr.children[1]);
    if (expr.op != "<" && expr.op != "<=" && expr.op != ">" && expr.op != ">=")
        return false;
    const auto threaded = [&](ExprId side) { return dependence_.of(side).onThread; };
    const bool left = threaded(expr.children[0]);
    if (left == threaded(expr.children[1]))
        return false;
    const ExprId index = expr.children[left ? 0 : 1];
    const ExprId bound = expr.children[left ? 1 : 0];
    const std::optional<IndexExpression> limit = evaluator_.integer(bound);
    if (!limit || limit->hasOpaque())
        return false;
    const auto has = [](const IndexExpression& value, SymbolKind kind) {
        return std::ranges::any_of(value.terms(), [&](const auto& term) {
            return std::ranges::any_of(term.first,
                                       [&](Symbol symbol) { return symbol.kind == kind; });
        });
    };
    const std::optional<IndexExpression> position = evaluator_.integer(index);
    return has(*limit, SymbolKind::Parameter) ||
           (limit->asConstant() && position && has(*position, SymbolKind::BlockIdx));
}

bool FactCollector::isBoundsGuard(const Stmt& stmt) const {
    if (stmt.kind != StmtKind::If || stmt.condition == noId || stmt.children.size() != 1)
        return false;
    return comparesWithBound(stmt.condition);
}

} // namespace kernelskill::analysis
