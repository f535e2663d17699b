/// Follows branches and loops of a host function: which statements are done, and how often.
#include "engine/review/host/host_interpreter.h"

#include <algorithm>

namespace kernelskill::engine {

using analysis::Expr;
using analysis::ExprId;
using analysis::ExprKind;
using analysis::noId;
using analysis::Stmt;
using analysis::StmtId;
using analysis::StmtKind;

HostInterpreter::Flow HostInterpreter::branch(StmtId id, const Stmt& stmt) {
    if (stmt.init != noId)
        statement(stmt.init);
    if (stmt.condition == noId || stmt.children.empty()) {
        fail(stmt.span, "what this statement does is not followed");
        return Flow::Return;
    }
    const HostValue condition = evaluate(stmt.condition);
    if (isStopped())
        return Flow::Return;
    if (!condition.integer && !scenario_.choices.contains(condition.term) && isHostAlone(id))
        return summarise(id);
    const auto holds = decided(condition);
    if (!holds)
        return Flow::Return;
    const bool before = isUnderAssumption_;
    isUnderAssumption_ |= condition.isAssumed;
    Flow flow = Flow::Next;
    if (*holds)
        flow = statement(stmt.children[0]);
    else if (stmt.children.size() > 1)
        flow = statement(stmt.children[1]);
    // A branch that may leave the round decides about the rest of the loop.
    isUnderAssumption_ = before || (condition.isAssumed && loops_ > 0 && leavesRound(id));
    return flow;
}

bool HostInterpreter::leavesRound(StmtId id) const {
    return std::ranges::any_of(code_.statementsIn(id), [&](StmtId inner) {
        const StmtKind kind = body_.stmt(inner).kind;
        return kind == StmtKind::Break || kind == StmtKind::Continue || kind == StmtKind::Return ||
               kind == StmtKind::Goto;
    });
}

HostInterpreter::Flow HostInterpreter::loop(const Stmt& stmt) {
    if (stmt.init != noId)
        statement(stmt.init);
    const bool before = isUnderAssumption_;
    ++loops_;
    const Flow flow = rounds(stmt);
    --loops_;
    isUnderAssumption_ = before;
    return flow;
}

HostInterpreter::Flow HostInterpreter::rounds(const Stmt& stmt) {
    bool isFirst = stmt.kind == StmtKind::Do;
    const bool isFor = stmt.kind == StmtKind::For;
    while (!isStopped()) {
        if (!isFirst && stmt.condition != noId) {
            const HostValue condition = evaluate(stmt.condition);
            isUnderAssumption_ |= condition.isAssumed;
            const auto holds = decided(condition);
            if (!holds || !*holds)
                break;
        }
        isFirst = false;
        const Flow flow = stmt.children.empty() ? Flow::Next : statement(stmt.children.back());
        if (flow == Flow::Return)
            return flow;
        if (flow == Flow::Break)
            break;
        if (isFor && stmt.increment != noId)
            evaluate(stmt.increment);
        if (++steps_ > maxSteps)
            fail(stmt.span, "the loop takes too many rounds to follow");
    }
    return isStopped() ? Flow::Return : Flow::Next;
}

std::optional<bool> HostInterpreter::decided(const HostValue& condition) {
    if (isStopped())
        return std::nullopt;
    if (condition.integer)
        return *condition.integer != 0;
    const auto choice = scenario_.choices.find(condition.term);
    if (choice != scenario_.choices.end())
        return choice->second;
    undecided_ = condition.term;
    return std::nullopt;
}

bool HostInterpreter::isHostAlone(StmtId id) const {
    for (const StmtId inner : code_.statementsIn(id)) {
        const StmtKind kind = body_.stmt(inner).kind;
        if (kind == StmtKind::Return || kind == StmtKind::Goto || kind == StmtKind::Asm)
            return false;
    }
    const StmtKind kind = body_.stmt(id).kind;
    if (kind == StmtKind::If)
        for (const StmtId inner : code_.statementsIn(id))
            if (body_.stmt(inner).kind == StmtKind::Break ||
                body_.stmt(inner).kind == StmtKind::Continue)
                return false;
    return std::ranges::none_of(code_.expressionsIn(id), [&](ExprId expr) {
        const Expr& at = body_.expr(expr);
        return (at.kind == ExprKind::Call && isRuntimeCall(at.name)) || launchOf(at) != nullptr;
    });
}

} // namespace kernelskill::engine
