#include "skills/schedule/moved_variables.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/syntax/statement_kinds.h"
#include "skills/gates/counted_loop.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isInHead(const CodeMap& code, const Loop& loop, ExprId expr) {
    const StmtId init = code.body().stmt(loop.statement).init;
    return init != noId && code.holds(init, expr);
}

/// The uses of the variable in the loop that may change it, its declaration in the head aside.
std::vector<ExprId> writesIn(const CodeMap& code, const Loop& loop, VariableId variable) {
    std::vector<ExprId> writes;
    for (const ExprId use : code.uses(variable))
        if (code.holds(loop.statement, use) && !isInHead(code, loop, use) && code.isWrite(use))
            writes.push_back(use);
    return writes;
}

/// Whether something else may stand for the variable: its address is taken, or it is bound to a
/// reference.
bool isAliased(const CodeMap& code, VariableId variable) {
    return std::ranges::any_of(code.uses(variable), [&](ExprId use) {
        if (!code.isWrite(use))
            return false;
        const ExprId above = code.parent(use);
        if (above == noId)
            return true;
        const Expr& change = code.body().expr(above);
        const bool isOwn = (change.kind == ExprKind::Binary && isAssignment(change.op)) ||
                           (change.kind == ExprKind::Unary && change.op != "&");
        return !isOwn;
    });
}

/// Whether each round evaluates the expression once, and no inner loop holds it.
bool isOncePerRound(const CodeMap& code, const Loop& loop, ExprId expr) {
    const FunctionBody& body = code.body();
    const StmtId holder = code.statement(expr);
    if (holder == loop.statement) { // The increment of a for loop, or its condition.
        ExprId outermost = expr;
        while (code.parent(outermost) != noId)
            outermost = code.parent(outermost);
        return outermost == body.stmt(loop.statement).increment && !code.mayBeSkipped(expr);
    }
    for (StmtId at = holder; at != loop.body; at = body.stmt(at).parent)
        if (at == noId || (at != holder && body.stmt(at).kind != StmtKind::Compound))
            return false;
    const StmtKind kind = body.stmt(holder).kind;
    return (kind == StmtKind::Expression || kind == StmtKind::Declaration) &&
           isInEveryRound(code, loop, expr);
}

/// Reads `p++`, `--p`, `p += n` and `p -= n`.
std::optional<MovedVariable> changeOf(const CodeMap& code, ExprId use) {
    const ExprId above = code.parent(use);
    if (above == noId)
        return std::nullopt;
    const Expr& change = code.body().expr(above);
    MovedVariable moved;
    moved.variable = code.body().expr(use).variable;
    moved.change = above;
    if (change.fromMacro)
        return std::nullopt;
    if (change.kind == ExprKind::Unary && (change.op.contains("++") || change.op.contains("--"))) {
        moved.isDown = change.op.contains("--");
        return moved;
    }
    if (change.kind != ExprKind::Binary || (change.op != "+=" && change.op != "-="))
        return std::nullopt;
    moved.isDown = change.op == "-=";
    const Expr& step = code.body().expr(change.children[1]);
    if (step.kind != ExprKind::Integer || step.integer != 1)
        moved.step = change.children[1];
    return moved;
}

bool canMove(const Variable& variable) {
    const Type& type = variable.type;
    const bool isPointer = type.pointerDepth > 0 && type.arrayExtents.empty();
    return (variable.storage == Storage::Local || variable.storage == Storage::Parameter) &&
           !variable.fromMacro && !type.isReference && !type.isVolatile &&
           (isPointer || isIndexType(type));
}

std::string_view mirrored(std::string_view comparison) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> pairs{
        {{"<", ">"}, {">", "<"}, {"<=", ">="}, {">=", "<="}}};
    const auto* const pair =
        std::ranges::find(pairs, comparison, &std::pair<std::string_view, std::string_view>::first);
    return pair != pairs.end() ? pair->second : comparison;
}

} // namespace

bool isFixedInLoop(const CodeMap& code, const Loop& loop, ExprId expr) {
    return isFixedOutside(code, loop, expr) &&
           std::ranges::all_of(code.expressionsBelow(expr), [&](ExprId id) {
               const Expr& at = code.body().expr(id);
               return at.kind != ExprKind::Variable ||
                      (writesIn(code, loop, at.variable).empty() && !isAliased(code, at.variable));
           });
}

ExprId valueAtLoop(const CodeMap& code, const Loop& loop, VariableId variable,
                   const std::function<bool(VariableId)>& isStill) {
    const FunctionBody& body = code.body();
    const Variable& local = body.variable(variable);
    const StmtId declaration = code.declarationOf(variable);
    if (local.storage != Storage::Local || local.init == noId || declaration == noId ||
        local.type.isReference || local.fromMacro)
        return noId;
    const auto isWrittenOutside = [&](VariableId of) {
        return std::ranges::any_of(code.uses(of), [&](ExprId use) {
            return code.isWrite(use) && !code.holds(loop.statement, use);
        });
    };
    if (isWrittenOutside(variable))
        return noId;
    // From the declaration on to the loop runs only code of the block that holds the declaration.
    const bool isInHead = declaration == body.stmt(loop.statement).init;
    const StmtId block = isInHead ? loop.statement : body.stmt(declaration).parent;
    if (block == noId || !code.encloses(block, loop.statement))
        return noId;
    const bool isSame = std::ranges::all_of(code.expressionsBelow(local.init), [&](ExprId id) {
        const Expr& at = body.expr(id);
        switch (at.kind) {
        case ExprKind::Integer:
        case ExprKind::BuiltinIndex:
        case ExprKind::Cast:
            return true;
        case ExprKind::Subscript: // The address of an element, see below.
            return code.parent(id) != noId && body.expr(code.parent(id)).op == "&";
        case ExprKind::Unary:
            return at.op == "-" || at.op == "&";
        case ExprKind::Binary:
            return !isAssignment(at.op);
        case ExprKind::Variable:
            return at.variable != noId && !body.variable(at.variable).type.isVolatile &&
                   !isAliased(code, at.variable) &&
                   std::ranges::none_of(code.uses(at.variable), [&](ExprId use) {
                       return code.isWrite(use) && code.holds(block, use) &&
                              !(code.holds(loop.statement, use) && isStill(at.variable));
                   });
        default:
            return false;
        }
    });
    return isSame ? local.init : noId;
}

std::vector<MovedVariable> movedVariables(const CodeMap& code, const Loop& loop) {
    const FunctionBody& body = code.body();
    std::vector<MovedVariable> all;
    for (VariableId id = 0; id < body.variables.size(); ++id) {
        const StmtId declaration = code.declarationOf(id);
        if (!canMove(body.variable(id)) || isAliased(code, id) ||
            (declaration != noId && code.encloses(loop.body, declaration)))
            continue;
        const std::vector<ExprId> writes = writesIn(code, loop, id);
        if (writes.size() != 1 || !isOncePerRound(code, loop, writes[0]))
            continue;
        const auto moved = changeOf(code, writes[0]);
        const bool isDeclaredHere =
            declaration != noId && declaration == body.stmt(loop.statement).init;
        if (!moved || (moved->step != noId && !isFixedInLoop(code, loop, moved->step)) ||
            (!isDeclaredHere && isAskedForLater(code, loop.statement, id, false)) ||
            std::ranges::any_of(code.uses(id), [&](ExprId use) {
                return code.holds(loop.statement, use) && body.expr(use).fromMacro;
            }))
            continue;
        all.push_back(*moved);
    }
    return all;
}

std::optional<MovedControl> controlOf(const CodeMap& code, const Loop& loop,
                                      const std::vector<MovedVariable>& moved) {
    constexpr std::array<std::string_view, 5> comparisons = {"<", "<=", ">", ">=", "!="};
    const FunctionBody& body = code.body();
    const ExprId condition = body.stmt(loop.statement).condition;
    if (condition == noId)
        return std::nullopt;
    const Expr& compared = body.expr(condition);
    if (compared.kind != ExprKind::Binary || compared.fromMacro ||
        std::ranges::find(comparisons, compared.op) == comparisons.end())
        return std::nullopt;
    for (const std::size_t side : {0U, 1U}) {
        const Expr& name = body.expr(compared.children[side]);
        const ExprId bound = compared.children[1 - side];
        if (name.kind != ExprKind::Variable || !isFixedInLoop(code, loop, bound))
            continue;
        const auto found = std::ranges::find(moved, name.variable, &MovedVariable::variable);
        if (found == moved.end())
            continue;
        const std::string_view comparison = side == 0 ? compared.op : mirrored(compared.op);
        const bool isToEnd =
            comparison == "!=" || comparison.starts_with(found->isDown ? ">" : "<");
        if (isToEnd)
            return MovedControl{static_cast<std::size_t>(found - moved.begin()), bound,
                                std::string(comparison)};
    }
    return std::nullopt;
}

} // namespace kernelskill::skills
