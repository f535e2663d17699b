#include "analysis/model/dependence.h"
#include "analysis/model/known_functions.h"
#include "analysis/nest/builder.h"

#include <algorithm>
#include <utility>

namespace kernelskill::analysis {

namespace {

/// Whether the statement holds a break of what is around it.
bool hasBreak(const FunctionBody& body, StmtId id) {
    const Stmt& stmt = body.stmt(id);
    if (stmt.kind == StmtKind::Break)
        return true;
    const bool isOwn = stmt.kind == StmtKind::For || stmt.kind == StmtKind::While ||
                       stmt.kind == StmtKind::Do || stmt.kind == StmtKind::RangeFor ||
                       stmt.kind == StmtKind::Switch;
    return !isOwn &&
           std::ranges::any_of(stmt.children, [&](StmtId child) { return hasBreak(body, child); });
}

} // namespace

NestExit NestBuilder::walk(StmtId id) {
    if (id == noId)
        return {};
    const Stmt& stmt = body().stmt(id);
    NestExit exit;
    switch (stmt.kind) {
    case StmtKind::Compound:
        return walkSequence(stmt.children);
    case StmtKind::Declaration:
        for (const VariableId variable : stmt.declared)
            declare(variable, id);
        return exit;
    case StmtKind::Expression:
        compute(stmt.expr, id);
        return exit;
    case StmtKind::If:
        return walkIf(id);
    case StmtKind::For:
    case StmtKind::While:
    case StmtKind::Do:
    case StmtKind::RangeFor:
        return walkLoop(id);
    case StmtKind::Switch:
        return walkSwitch(id);
    case StmtKind::Case:
        return walkSequence(stmt.children);
    case StmtKind::Return: {
        if (stmt.expr != noId) {
            compute(stmt.expr, id);
            NestFollowed value = followed(stmt.expr, expr(stmt.expr).type);
            Frame& frame = frames_[frame_];
            if (!frame.hasResult)
                frame.result = std::move(value);
            else if (frame.result != value)
                frame.result = NestFollowed{};
            frame.hasResult = true;
        }
        exit.returns = {};
        return exit;
    }
    case StmtKind::Break:
        exit.leaves = {};
        return exit;
    case StmtKind::Continue:
        exit.skips = {};
        return exit;
    case StmtKind::Null:
        return exit;
    default: {
        beginStatement(id, stmt.expr, noId, stmt.span);
        opaque(stmt.kind == StmtKind::Asm    ? "inline assembly"
               : stmt.kind == StmtKind::Goto ? "goto"
                                             : "a statement of a kind that is not followed");
        for (const StmtId child : stmt.children)
            if (const ExprId operand = body().stmt(child).expr; operand != noId)
                visit(operand, Use::ReadWrite);
        endStatement();
        return exit;
    }
    }
}

NestExit NestBuilder::walkSequence(const std::vector<StmtId>& statements) {
    NestExit all;
    const NestNodeId outer = parent_;
    NestCondition exits = NestCondition::never(); // Not yet in a guard.
    StmtId leaving = noId;                        // The statement that exits.
    for (const StmtId statement : statements) {
        if (exits.isAlways())
            break;
        if (!exits.isNever())
            parent_ = openGuard(negation(exits), true, leaving);
        leaving = statement;
        const NestExit exit = walk(statement);
        all.returns = either(all.returns, exit.returns);
        all.leaves = either(all.leaves, exit.leaves);
        all.skips = either(all.skips, exit.skips);
        exits = exit.any();
    }
    parent_ = outer;
    return all;
}

NestNodeId NestBuilder::openGuard(const NestCondition& condition, bool isExit, StmtId statement) {
    NestNode node;
    node.content = NestGuard{condition, isExit};
    node.statement = statement;
    node.span = body().stmt(statement).span;
    return append(std::move(node));
}

NestExit NestBuilder::walkIf(StmtId id) {
    const Stmt& stmt = body().stmt(id);
    (void)walk(stmt.init);
    for (const VariableId variable : stmt.declared)
        declare(variable, id);
    compute(stmt.condition, id, NestStatementKind::Test);
    const NestCondition condition = stmt.condition == noId ? unknownCondition("a declaration")
                                                           : this->condition(stmt.condition);
    const State before = state_;
    const NestNodeId outer = parent_;
    NestExit exits[2];
    State states[2] = {before, before};
    for (std::size_t branch = 0; branch < 2; ++branch) {
        const NestCondition here = branch == 0 ? condition : negation(condition);
        if (branch >= stmt.children.size() || here.isNever())
            continue;
        state_ = before;
        const std::size_t count = nest_.nodes.size();
        if (!here.isAlways())
            parent_ = openGuard(here, false, id);
        exits[branch] = walk(stmt.children[branch]);
        parent_ = outer;
        // A guard around nothing, as of `if (i >= n) return;`, says nothing.
        if (!here.isAlways() && nest_.nodes.size() == count + 1) {
            nest_.nodes.pop_back();
            if (outer == noId)
                nest_.roots.pop_back();
            else
                nest_.nodes[outer].children.pop_back();
        }
        states[branch] = std::move(state_);
    }
    const bool firstEnds = condition.isNever() || exits[0].any().isAlways();
    const bool secondEnds = condition.isAlways() || exits[1].any().isAlways();
    if (firstEnds)
        state_ = std::move(states[1]);
    else if (secondEnds)
        state_ = std::move(states[0]);
    else
        merge(condition, std::move(states[0]), states[1]);
    NestExit exit;
    const NestCondition otherwise = negation(condition);
    exit.returns = either(both(condition, exits[0].returns), both(otherwise, exits[1].returns));
    exit.leaves = either(both(condition, exits[0].leaves), both(otherwise, exits[1].leaves));
    exit.skips = either(both(condition, exits[0].skips), both(otherwise, exits[1].skips));
    return exit;
}

/// Sets the state to what holds behind an if: where the branches differ, the condition chooses.
void NestBuilder::merge(const NestCondition& condition, State then, const State& otherwise) {
    state_ = std::move(then);
    for (auto& [key, value] : state_) {
        const auto other = otherwise.find(key);
        if (other == otherwise.end() || other->second == value)
            continue;
        if (value.integer && other->second.integer) {
            value.integer = IndexExpression::symbol(
                nest_.symbols.selection(condition, *value.integer, *other->second.integer));
        } else if (value.address && other->second.address) {
            value.address = chosen(condition, *value.address, *other->second.address);
        } else if (value.address) {
            value.address = NestAddress{};
            value.address->reason = "a pointer that is one of two";
        } else {
            value = {};
        }
    }
    for (const auto& [key, value] : otherwise)
        state_.try_emplace(key, value);
}

NestExit NestBuilder::walkSwitch(StmtId id) {
    const Stmt& stmt = body().stmt(id);
    (void)walk(stmt.init);
    compute(stmt.condition, id, NestStatementKind::Test);
    const std::optional<IndexExpression> value =
        stmt.condition == noId ? std::nullopt : integer(stmt.condition);
    // The statements by the labels that lead to them.
    struct Part {
        NestCondition condition = NestCondition::never();
        std::vector<StmtId> statements;
    };
    std::vector<Part> parts;
    NestCondition any = NestCondition::never();
    bool complete = !stmt.children.empty();
    const auto label = [&](StmtId start) {
        Part part;
        StmtId at = start;
        while (body().stmt(at).kind == StmtKind::Case) {
            const Stmt& entry = body().stmt(at);
            NestCondition here = negation(any);
            if (entry.expr != noId) {
                const std::optional<IndexExpression> wanted = integer(entry.expr);
                here = value && wanted ? NestCondition::zero(*value - *wanted)
                                       : unknownCondition("case " + text(entry.expr));
                any = either(any, here);
            }
            part.condition = either(part.condition, here);
            if (entry.children.empty())
                break;
            at = entry.children.back();
        }
        part.statements = {at};
        parts.push_back(std::move(part));
    };
    if (complete)
        for (const StmtId child : body().stmt(stmt.children.back()).children) {
            if (body().stmt(child).kind == StmtKind::Case)
                label(child);
            else if (!parts.empty())
                parts.back().statements.push_back(child);
            else
                complete = false;
        }
    const State before = state_;
    const NestNodeId outer = parent_;
    NestExit all;
    NestCondition fallsThrough = NestCondition::never();
    bool breaksInside = false; // Under a condition, with what the case does behind it undone.
    State merged = before;
    for (const Part& part : parts) {
        const NestCondition here = either(part.condition, fallsThrough);
        if (here.isNever())
            continue;
        state_ = before;
        if (!here.isAlways())
            parent_ = openGuard(here, false, id);
        const NestExit exit = walkSequence(part.statements);
        parent_ = outer;
        all.returns = either(all.returns, both(here, exit.returns));
        all.skips = either(all.skips, both(here, exit.skips));
        fallsThrough = both(here, negation(exit.any()));
        breaksInside = breaksInside || std::ranges::any_of(part.statements, [&](StmtId statement) {
                           return body().stmt(statement).kind != StmtKind::Break &&
                                  hasBreak(body(), statement);
                       });
        const State own = std::exchange(state_, {});
        merge(here, own, merged);
        merged = std::move(state_);
    }
    state_ = std::move(merged);
    if (breaksInside) {
        std::vector<NestVariableKey> changed;
        for (const auto& [key, value] : state_)
            if (const auto old = before.find(key); old == before.end() || !(old->second == value))
                changed.push_back(key);
        for (const NestVariableKey& key : changed)
            forget(key);
    }
    return all;
}

void NestBuilder::declare(VariableId id, StmtId statement) {
    const Variable& variable = body().variable(id);
    const NestVariableKey key{frame_, id, ""};
    if (variable.storage != Storage::Local)
        return;
    std::erase_if(state_, [&](const auto& entry) {
        return entry.first.frame == frame_ && entry.first.variable == id;
    });
    if (variable.init == noId)
        return;
    const ExprId init = variable.init;
    beginStatement(statement, init, id, body().stmt(statement).span);
    if (variable.type.isReference) {
        visitPointerParts(init);
        NestPlace target = place(init);
        if (!target.variable && target.address.array == noId) {
            visit(init); // Bound to a temporary.
            set(key, followed(init, variable.type));
        } else {
            frames_[frame_].aliases[id] = std::move(target);
        }
        endStatement();
        return;
    }
    visit(init);
    if (isFollowed(variable.type)) {
        set(key, followed(init, variable.type));
    } else {
        const Expr& value = expr(init);
        // dim3, int2 and structs of integers.
        constexpr const char* lanes[] = {".x", ".y", ".z", ".w"};
        if (value.kind == ExprKind::InitList || value.kind == ExprKind::Call)
            for (std::size_t i = 0; i < std::min<std::size_t>(value.children.size(), 4); ++i)
                if (variable.type.lanes > 1 && isNestInteger(expr(value.children[i]).type))
                    set({frame_, id, lanes[i]},
                        followed(value.children[i], expr(value.children[i]).type));
        NestPlace target;
        target.variable = key;
        if (variable.type.arrayExtents.empty() || value.kind != ExprKind::InitList)
            access(target, AccessKind::Write, noId, variable.type);
        else
            access({std::nullopt, pointerOf(key, variable.type)}, AccessKind::Write, noId,
                   variable.type);
    }
    endStatement();
}

void NestBuilder::beginStatement(StmtId statement, ExprId expression, VariableId declared,
                                 Span span, NestStatementKind kind) {
    NestNode node;
    NestStatement content;
    content.kind = kind;
    content.expression = expression;
    content.declared = declared;
    content.reduction = reductionOf(expression);
    node.content = std::move(content);
    node.statement = statement;
    node.span = span;
    node.frame = frame_;
    pending_.push_back(std::move(node));
}

/// Appends the statement if it does anything that the symbols do not already tell.
void NestBuilder::endStatement() {
    NestNode node = std::move(pending_.back());
    pending_.pop_back();
    const auto& content = std::get<NestStatement>(node.content);
    if (content.accesses.empty() && content.opaque.empty() && content.exchange.empty())
        return;
    const std::vector<NestAccessId> accesses = content.accesses;
    const NestNodeId id = append(std::move(node));
    for (const NestAccessId access : accesses)
        nest_.accesses[access].node = id;
}

void NestBuilder::compute(ExprId expression, StmtId statement, NestStatementKind kind) {
    if (expression == noId)
        return;
    const Span span =
        kind == NestStatementKind::Test ? expr(expression).span : body().stmt(statement).span;
    beginStatement(statement, expression, noId, span, kind);
    visit(expression);
    endStatement();
}

void NestBuilder::opaque(std::string reason) {
    if (pending_.empty())
        return;
    auto& content = std::get<NestStatement>(pending_.back().content);
    if (content.opaque.empty())
        content.opaque = std::move(reason);
}

/// The operator of `x op= y`, `x = x op y` and `x = fmaxf(x, y)`.
std::string NestBuilder::reductionOf(ExprId expression) const {
    if (expression == noId)
        return {};
    const Expr& whole = expr(expression);
    if (whole.kind != ExprKind::Binary || !isAssignment(whole) || whole.children.size() != 2)
        return {};
    if (whole.op != "=")
        return whole.op.substr(0, whole.op.size() - 1);
    const Expr& target = expr(whole.children[0]);
    const Expr& value = expr(whole.children[1]);
    const auto isTarget = [&](ExprId id) {
        const Expr& side = expr(id);
        return side.kind == target.kind && side.variable == target.variable &&
               text(id) == text(whole.children[0]);
    };
    if (value.children.size() < 2)
        return {};
    const bool left = isTarget(value.children[0]);
    const bool right = isTarget(value.children[1]);
    if (value.kind == ExprKind::Binary) {
        const bool commutes = value.op == "+" || value.op == "*" || value.op == "&" ||
                              value.op == "|" || value.op == "^";
        return left || (right && commutes) ? value.op : std::string{};
    }
    if (value.kind != ExprKind::Call || (!left && !right))
        return {};
    const std::string_view name = unqualified(value.name);
    if (name == "max" || name == "fmax" || name == "fmaxf" || name == "__hmax")
        return "max";
    if (name == "min" || name == "fmin" || name == "fminf" || name == "__hmin")
        return "min";
    return {};
}

} // namespace kernelskill::analysis
