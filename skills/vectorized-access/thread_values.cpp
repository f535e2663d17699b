#include "skills/vectorized-access/thread_values.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/syntax/statement_kinds.h"

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isExit(StmtKind kind) {
    return kind == StmtKind::Return || kind == StmtKind::Break || kind == StmtKind::Continue ||
           kind == StmtKind::Goto;
}

} // namespace

bool ThreadValues::differ(ExprId expr) const {
    std::vector<VariableId> visited;
    return differ(expr, visited);
}

bool ThreadValues::differ(ExprId id, std::vector<VariableId>& visited) const {
    const Expr& expr = body_.expr(id);
    switch (expr.kind) {
    case ExprKind::Integer:
    case ExprKind::Floating:
    case ExprKind::String:
        return false;
    case ExprKind::BuiltinIndex:
        return indexDiffers(expr);
    case ExprKind::Variable:
        return expr.variable == noId || variableDiffers(expr.variable, id, visited);
    case ExprKind::Binary:
        if (isNumberOfLanes(expr))
            return false;
        break;
    case ExprKind::Call:
        if (exchanges(id))
            return false;
        if (expr.isMethod)
            return true;
        break;
    case ExprKind::Member:
    case ExprKind::Subscript:
    case ExprKind::Unary:
    case ExprKind::Conditional:
    case ExprKind::Cast:
    case ExprKind::InitList:
        break;
    case ExprKind::Other:
        return true;
    }
    return std::ranges::any_of(expr.children, [&](ExprId child) { return differ(child, visited); });
}

bool ThreadValues::indexDiffers(const Expr& index) const {
    if (index.axis != 0 || index.name == "blockDim" || index.name == "gridDim")
        return false;
    return index.name == "threadIdx" || sharers_.kind == LoopSharers::Kind::Grid;
}

/// `threadIdx.x / 32`: the same in each of the warp's lanes.
bool ThreadValues::isNumberOfLanes(const Expr& quotient) const {
    if (sharers_.kind != LoopSharers::Kind::Lanes || (quotient.op != "/" && quotient.op != ">>"))
        return false;
    const auto by = code_.constantValue(quotient.children[1]);
    if (!by || *by < 1 || (quotient.op == ">>" && *by > 16))
        return false;
    const std::int64_t divisor = quotient.op == "/" ? *by : std::int64_t{1} << *by;
    const auto thread = polynomialOf(code_, quotient.children[0]);
    return thread && divisor % sharers_.lanes == 0 &&
           (*thread == IndexExpression::symbol({SymbolKind::ThreadIdx, 0}) ||
            *thread == flatThreadIndex());
}

bool ThreadValues::exchanges(ExprId expr) const {
    return std::ranges::any_of(code_.expressionsBelow(expr), [&](ExprId id) {
        const Expr& at = body_.expr(id);
        if (at.kind != ExprKind::Call)
            return false;
        const auto isCall = [&](const auto& one) { return one.call == id; };
        if (std::ranges::any_of(kernel_.warpOperations, isCall) ||
            std::ranges::any_of(kernel_.atomics, isCall) ||
            std::ranges::any_of(kernel_.barriers, isCall) || at.name == "cg::reduce" ||
            at.name == "cooperative_groups::reduce")
            return true;
        const auto callee = std::ranges::find(file_.deviceFunctions, at.name, &KernelModel::name);
        return callee != file_.deviceFunctions.end() &&
               (!callee->warpOperations.empty() || !callee->barriers.empty() ||
                !callee->atomics.empty());
    });
}

bool ThreadValues::variableDiffers(VariableId id, ExprId use,
                                   std::vector<VariableId>& visited) const {
    const Variable& variable = body_.variable(id);
    if (variable.storage != Storage::Local &&
        (variable.storage != Storage::Parameter || !code_.isEverWritten(id)))
        return false;
    if (!variable.type.arrayExtents.empty() || variable.type.isReference)
        return true;
    if (std::ranges::find(visited, id) != visited.end())
        return false; // The other writes decide.
    const std::uint32_t place = body_.expr(use).span.begin;
    std::vector<Write> writes;
    if (variable.init != noId)
        writes.push_back({noId, variable.span.begin});
    for (const ExprId other : code_.uses(id))
        if (code_.isWrite(other))
            writes.push_back({other, body_.expr(other).span.begin});
    visited.push_back(id);
    // The last write before the use decides alone if it runs whenever the use does.
    const Write* last = nullptr;
    for (const Write& write : writes)
        if (write.offset < place && (last == nullptr || write.offset > last->offset))
            last = &write;
    StmtId holder = noId;
    if (last != nullptr)
        holder = last->use == noId ? code_.declarationOf(id) : code_.statement(last->use);
    const StmtId scope = holder == noId ? noId : body_.stmt(holder).parent;
    const bool isCertain = scope != noId && body_.stmt(scope).span.contains({place, place}) &&
                           std::ranges::none_of(writes, [&](const Write& write) {
                               return write.offset > place && write.use != noId &&
                                      body_.stmt(scope).span.contains({write.offset, write.offset});
                           });
    // A loop of shuffles makes values equal that differed before it.
    const bool isExchanged = last != nullptr && last->use != noId &&
                             code_.parent(last->use) != noId && exchanges(code_.parent(last->use));
    bool differs = false;
    if (isExchanged || isCertain) {
        differs = writeDiffers(id, *last, visited);
        visited.pop_back();
        // The value that a sum adds to.
        return differs ||
               (!isExchanged && keepsBefore(*last) && variableDiffers(id, last->use, visited));
    }
    differs = std::ranges::any_of(writes, [&](const Write& write) {
        return writeDiffers(id, write, visited) ||
               (write.use != noId && isDivided(code_.statement(write.use), noId, visited));
    });
    visited.pop_back();
    return differs;
}

bool ThreadValues::keepsBefore(const Write& write) const {
    return write.use != noId && body_.expr(code_.parent(write.use)).op != "=";
}

bool ThreadValues::writeDiffers(VariableId variable, const Write& write,
                                std::vector<VariableId>& visited) const {
    if (write.use == noId)
        return differ(body_.variable(variable).init, visited);
    const ExprId parent = code_.parent(write.use);
    if (parent == noId)
        return true;
    const Expr& change = body_.expr(parent);
    if (change.kind == ExprKind::Unary)
        return !change.op.contains("++") && !change.op.contains("--");
    if (change.kind != ExprKind::Binary || !isAssignment(change.op) ||
        change.children[0] != write.use)
        return true;
    return !exchanges(parent) && differ(change.children[1], visited);
}

bool ThreadValues::isDivided(StmtId statement, StmtId outer,
                             std::vector<VariableId>& visited) const {
    for (StmtId at = statement; at != noId && at != outer; at = body_.stmt(at).parent) {
        const Stmt& stmt = body_.stmt(at);
        if (stmt.condition != noId && differ(stmt.condition, visited))
            return true;
    }
    return false;
}

bool ThreadValues::mayPart(StmtId loop) const {
    std::vector<VariableId> visited;
    if (isDivided(body_.stmt(loop).parent, noId, visited))
        return true;
    for (StmtId id = 0; id < body_.stmts.size(); ++id) {
        const Stmt& stmt = body_.stmt(id);
        if (!isExit(stmt.kind) || code_.encloses(loop, id))
            continue;
        // A `break` or `continue` of another loop leaves that loop alone.
        StmtId left = noId;
        for (StmtId at = stmt.parent; at != noId && stmt.kind != StmtKind::Return &&
                                      stmt.kind != StmtKind::Goto && left == noId;
             at = body_.stmt(at).parent)
            if (isLoop(body_.stmt(at).kind) ||
                (stmt.kind == StmtKind::Break && body_.stmt(at).kind == StmtKind::Switch))
                left = at;
        const bool isAround = left == noId || code_.encloses(left, loop);
        const bool comesFirst = stmt.span.begin < body_.stmt(loop).span.begin || left != noId;
        if (isAround && comesFirst && isDivided(stmt.parent, left, visited))
            return true;
    }
    return false;
}

} // namespace kernelskill::skills
