#include "analysis/model/dependence.h"
#include "analysis/nest/builder.h"

#include <algorithm>
#include <utility>

namespace kernelskill::analysis {

namespace {

IndexExpression one() {
    return IndexExpression::constant(1);
}

const Loop* describedLoop(const KernelModel& function, StmtId statement) {
    const auto found = std::ranges::find(function.loops, statement, &Loop::statement);
    return found == function.loops.end() ? nullptr : &*found;
}

bool isStepping(std::string_view op) {
    return op == "+=" || op == "-=";
}

} // namespace

bool NestBuilder::hasContinue(StmtId id) const {
    const Stmt& stmt = body().stmt(id);
    if (stmt.kind == StmtKind::Continue)
        return true;
    return std::ranges::any_of(stmt.children, [&](StmtId child) {
        const StmtKind kind = body().stmt(child).kind;
        const bool nested = kind == StmtKind::For || kind == StmtKind::While ||
                            kind == StmtKind::Do || kind == StmtKind::RangeFor;
        return !nested && hasContinue(child);
    });
}

void NestBuilder::collectChanges(ExprId id, bool conditional, bool isHeader,
                                 std::vector<Change>& changes) const {
    if (id == noId)
        return;
    const Expr& expression = expr(id);
    // The variable that an lvalue is, or is a field of: not one that it only goes through.
    const auto targetOf = [&](ExprId target) {
        while (expr(target).kind == ExprKind::Cast ||
               (expr(target).kind == ExprKind::Member && !expr(target).isArrow &&
                !expr(target).children.empty()))
            target = expr(target).children.front();
        return expr(target).kind == ExprKind::Variable ? expr(target).variable : noId;
    };
    if ((isAssignment(expression) || isIncrement(expression)) && !expression.children.empty())
        changes.push_back({targetOf(expression.children.front()), id, conditional, isHeader});
    if (expression.kind == ExprKind::Unary && expression.op == "&")
        changes.push_back({targetOf(expression.children.front()), noId, true, false});
    if (expression.isOutput)
        changes.push_back({targetOf(id), noId, true, false});
    const bool chooses =
        expression.kind == ExprKind::Conditional ||
        (expression.kind == ExprKind::Binary && (expression.op == "&&" || expression.op == "||"));
    for (std::size_t i = 0; i < expression.children.size(); ++i) {
        if (isOpaque(expression)) { // It may change each variable that it mentions.
            changes.push_back({rootVariable(body(), expression.children[i]), noId, true, false});
            continue;
        }
        collectChanges(expression.children[i], conditional || (chooses && i > 0), isHeader,
                       changes);
    }
}

void NestBuilder::collectChanges(StmtId id, bool conditional, std::vector<Change>& changes) const {
    if (id == noId)
        return;
    const Stmt& stmt = body().stmt(id);
    const bool isPlain = stmt.kind == StmtKind::Compound || stmt.kind == StmtKind::Declaration ||
                         stmt.kind == StmtKind::Expression;
    collectChanges(stmt.expr, conditional || !isPlain, false, changes);
    collectChanges(stmt.condition, conditional || stmt.kind != StmtKind::If, false, changes);
    collectChanges(stmt.increment, true, false, changes);
    collectChanges(stmt.init, conditional, changes);
    for (const VariableId variable : stmt.declared)
        collectChanges(body().variable(variable).init, conditional, false, changes);
    for (const StmtId child : stmt.children)
        collectChanges(child, conditional || !isPlain, changes);
}

/// The amount that the change adds to its variable; nullopt where it is no sum.
std::optional<IndexExpression> NestBuilder::stepOf(const Change& change) {
    if (change.expression == noId)
        return std::nullopt;
    const Expr& expression = expr(change.expression);
    if (expr(expression.children.front()).kind != ExprKind::Variable)
        return std::nullopt;
    if (isIncrement(expression))
        return expression.op.ends_with("++") ? one() : IndexExpression::constant(-1);
    if (expression.op == "+=" || expression.op == "-=") {
        const auto by = integer(expression.children[1]);
        return by && expression.op == "-=" ? IndexExpression::constant(-1) * *by : by;
    }
    const Type& type = body().variable(change.variable).type;
    if (expression.op != "=")
        return std::nullopt;
    if (isNestPointer(type)) {
        const NestAddress from = pointer(expression.children[0]);
        const NestAddress to = pointer(expression.children[1]);
        if (from.array == noId || from.array != to.array || !from.offset || !to.offset ||
            from.unit != to.unit)
            return std::nullopt;
        return *to.offset - *from.offset;
    }
    const auto from = integer(expression.children[0]);
    const auto to = integer(expression.children[1]);
    return from && to ? std::optional(*to - *from) : std::nullopt;
}

NestExit NestBuilder::walkLoop(StmtId id) {
    const Stmt stmt = body().stmt(id);
    (void)walk(stmt.init);
    const NestNodeId outer = parent_;
    std::vector<Change> changes;
    if (!stmt.children.empty())
        for (const StmtId child : body().stmt(stmt.children.back()).kind == StmtKind::Compound
                                      ? body().stmt(stmt.children.back()).children
                                      : stmt.children)
            collectChanges(child, false, changes);
    collectChanges(stmt.condition, false, false, changes);
    collectChanges(stmt.increment, false, true, changes);
    const bool skips = !stmt.children.empty() && hasContinue(stmt.children.back());

    // Within a round, what the loop changes is what a variable had when the round began.
    std::set<VariableId> changed;
    std::map<VariableId, Symbol> carried;
    for (const Change& change : changes)
        if (change.variable != noId)
            changed.insert(change.variable);
    for (const VariableId variable : changed) // Parameters have their value from the launch.
        if (!frames_[frame_].aliases.contains(variable) &&
            !state_.contains({frame_, variable, ""}) &&
            body().variable(variable).storage == Storage::Parameter) {
            const Type& type = body().variable(variable).type;
            if (isNestPointer(type))
                set({frame_, variable, ""},
                    {std::nullopt, pointerOf({frame_, variable, ""}, type)});
            else if (const auto value = integerOf(variable))
                set({frame_, variable, ""}, {value, std::nullopt});
        }
    const State before = state_;
    for (const VariableId variable : changed) {
        const Variable& declared = body().variable(variable);
        if (frames_[frame_].aliases.contains(variable) || !isFollowed(declared.type)) {
            if (const auto alias = frames_[frame_].aliases.find(variable);
                alias != frames_[frame_].aliases.end() && alias->second.variable)
                forget(*alias->second.variable);
            continue;
        }
        if (isNestInteger(declared.type)) {
            const IndexExpression value =
                freshValue(declared.name + "~", declared.type, noId, variable);
            carried[variable] = value.terms().begin()->first.front();
            set({frame_, variable, ""}, {value, std::nullopt});
        } else {
            NestAddress address = carriedPointer(variable, changes, before);
            if (address.array == noId || state_.find({frame_, variable, ""}) == state_.end()) {
                set({frame_, variable, ""}, {std::nullopt, std::move(address)});
                continue;
            }
            IndexExpression offset = freshValue(declared.name + "~", {}, noId, variable);
            carried[variable] = offset.terms().begin()->first.front();
            address.offset = std::move(offset);
            set({frame_, variable, ""}, {std::nullopt, std::move(address)});
        }
    }
    std::map<VariableId, IndexExpression> steps;
    for (const auto& [variable, symbol] : carried) {
        std::optional<IndexExpression> sum = IndexExpression{};
        for (const Change& change : changes) {
            if (change.variable != variable || !sum)
                continue;
            std::optional<IndexExpression> step =
                change.isConditional || (skips && !change.isHeader) ? std::nullopt : stepOf(change);
            const bool varies = step && std::ranges::any_of(carried, [&](const auto& entry) {
                                    return step->dependsOn(entry.second);
                                });
            sum = step && !varies ? std::optional(*sum + *step) : std::nullopt;
        }
        if (sum)
            steps[variable] = *sum;
    }

    NestLoop loop;
    const Loop* described = describedLoop(*frames_[frame_].function, id);
    loop.kind = stmt.kind == StmtKind::While ? LoopKind::While
                : stmt.kind == StmtKind::Do  ? LoopKind::Do
                                             : LoopKind::For;
    if (stmt.kind == StmtKind::RangeFor || described == nullptr)
        loop.unknown = "a range-based loop";
    else
        findBounds(stmt, *described, loop, steps, carried, before);
    if (loop.variable == noId) {
        NestSymbol counter;
        counter.kind = NestSymbolKind::Iterator;
        counter.name = "round";
        counter.isNotNegative = true;
        loop.iterator = nest_.symbols.add(std::move(counter));
    }
    classify(loop);
    bindInductions(loop, steps, before);
    for (const auto& [variable, symbol] : carried)
        if (!steps.contains(variable) && variable != loop.variable)
            carried_.insert(symbol);

    NestNode node;
    node.content = loop;
    node.statement = id;
    node.span = stmt.span;
    const NestNodeId own = append(std::move(node));
    parent_ = own;
    if (stmt.kind != StmtKind::Do)
        compute(stmt.condition, id, NestStatementKind::Test);
    for (const VariableId variable : stmt.declared)
        declare(variable, id);
    // Further parts of `i < n && j < m` guard the round.
    if (stmt.condition != noId && stmt.kind != StmtKind::Do) {
        const Expr& whole = expr(stmt.condition);
        if (whole.kind == ExprKind::Binary && whole.op == "&&") {
            const NestCondition further = condition(stmt.condition);
            parent_ = openGuard(further, true, id);
            std::get<NestLoop>(nest_.nodes[own].content).mayStop = true;
        }
    }
    const NestExit exit = stmt.children.empty() ? NestExit{} : walk(stmt.children.back());
    parent_ = own;
    compute(stmt.increment, id);
    if (stmt.kind == StmtKind::Do)
        compute(stmt.condition, id, NestStatementKind::Test);
    parent_ = outer;
    auto& made = std::get<NestLoop>(nest_.nodes[own].content);
    made.mayStop = made.mayStop || !exit.leaves.isNever() || !exit.returns.isNever();
    afterLoop(made, steps, before, changed);
    NestExit result;
    if (!exit.returns.isNever())
        result.returns = unknownCondition("left by return in the loop");
    return result;
}

void NestBuilder::findBounds(const Stmt& stmt, const Loop& described, NestLoop& loop,
                             const std::map<VariableId, IndexExpression>& steps,
                             const std::map<VariableId, Symbol>& carried, const State& before) {
    VariableId variable = described.inductionVariable;
    if (variable == noId)
        variable = countedBy(stmt, steps, carried, loop);
    if (variable == noId || frames_[frame_].aliases.contains(variable)) {
        loop.unknown = "no variable counts the rounds";
        return;
    }
    const Type& type = body().variable(variable).type;
    if (isNestPointer(type)) {
        pointerBounds(stmt, loop, steps, before);
        return;
    }
    if (!isNestInteger(type)) {
        loop.unknown = "the loop's variable is no integer";
        return;
    }
    const auto step = steps.find(variable);
    const bool multiplies = !described.stepOperator.empty() && !isStepping(described.stepOperator);
    if (step == steps.end() && !multiplies) {
        loop.unknown = "the loop's variable changes in other ways";
        return;
    }
    if (stmt.kind == StmtKind::Do && !multiplies) {
        loop.unknown = "the condition is tested last";
        return;
    }
    loop.variable = variable;
    loop.stepOperator = described.stepOperator;
    if (multiplies && described.stepExpression)
        loop.factor = described.stepExpression->asConstant();
    const auto start = before.find({frame_, variable, ""});
    if (start != before.end())
        loop.first = start->second.integer;
    if (step != steps.end())
        loop.step = step->second;
    const auto by = loop.step ? loop.step->asConstant() : std::nullopt;
    loop.isDownward =
        (by && *by < 0) || described.comparison.starts_with('>') ||
        (multiplies && (described.stepOperator == ">>=" || described.stepOperator == "/="));
    if (loop.end)
        loop.isDownward = by && *by < 0;
    else if (described.upperBound != noId)
        loop.end = integer(described.upperBound);
    else if (!described.comparison.empty())
        loop.end = IndexExpression::constant(0); // while (n)
    if (loop.end && described.inductionVariable != noId) {
        if (described.comparison == "<=")
            loop.end = *loop.end + one();
        else if (described.comparison == ">=")
            loop.end = *loop.end - one();
    }
    const auto varies = [&](const IndexExpression& bound) {
        return std::ranges::any_of(
            carried, [&](const auto& entry) { return bound.dependsOn(entry.second); });
    };
    if (loop.end && varies(*loop.end)) {
        loop.end.reset();
        loop.unknown = "the bound changes in the loop";
    } else if (!loop.end) {
        loop.unknown = "the bound is not followed";
    } else if (!loop.first) {
        loop.unknown = "the start is not followed";
    }
    NestSymbol iterator;
    iterator.kind = NestSymbolKind::Iterator;
    iterator.name = body().variable(variable).name;
    iterator.isNotNegative = loop.isDownward
                                 ? loop.end && nest_.symbols.isNotNegative(*loop.end + one())
                                 : loop.first && nest_.symbols.isNotNegative(*loop.first);
    loop.iterator = nest_.symbols.add(std::move(iterator));
}

/// The variable that `i + 3 < n` bounds, and its bound; noId where there is none.
VariableId NestBuilder::countedBy(const Stmt& stmt,
                                  const std::map<VariableId, IndexExpression>& steps,
                                  const std::map<VariableId, Symbol>& carried, NestLoop& loop) {
    ExprId test = stmt.condition;
    while (test != noId && expr(test).kind == ExprKind::Binary && expr(test).op == "&&")
        test = expr(test).children[0];
    if (test == noId)
        return noId;
    const NestCondition goesOn = condition(test);
    if (goesOn.kind != NestCondition::Kind::NotNegative)
        return noId;
    for (const auto& [variable, step] : steps) {
        const IndexExpression own = IndexExpression::symbol(carried.at(variable));
        const bool isDown = step.asConstant().value_or(1) < 0;
        const IndexExpression rest = isDown ? goesOn.expression - own : goesOn.expression + own;
        const bool isFree = std::ranges::none_of(
            carried, [&](const auto& entry) { return rest.dependsOn(entry.second); });
        if (!isFree || !isNestInteger(body().variable(variable).type))
            continue;
        loop.end = isDown ? IndexExpression::constant(-1) * rest - one() : rest + one();
        return variable;
    }
    return noId;
}

/// `for (; p < end; p++)` counts elements from where the pointer stands before the loop.
void NestBuilder::pointerBounds(const Stmt& stmt, NestLoop& loop,
                                const std::map<VariableId, IndexExpression>& steps,
                                const State& before) {
    const Expr& test = expr(stmt.condition);
    loop.unknown = "a pointer counts the rounds";
    if (test.kind != ExprKind::Binary || (test.op != "<" && test.op != "!="))
        return;
    const VariableId variable = rootVariable(body(), test.children[0]);
    const auto start = before.find({frame_, variable, ""});
    const auto step = steps.find(variable);
    const NestAddress limit = pointer(test.children[1]);
    NestAddress first =
        start != before.end() && start->second.address ? *start->second.address : NestAddress{};
    if (step == steps.end() || step->second.asConstant() != 1 || limit.array == noId ||
        first.array != limit.array || first.unit != limit.unit || !first.offset || !limit.offset)
        return;
    loop.unknown.clear();
    loop.stepOperator = "+=";
    loop.first = IndexExpression{};
    loop.end = *limit.offset - *first.offset;
    loop.step = one();
}

void NestBuilder::classify(NestLoop& loop) const {
    if (!loop.first || !loop.step || loop.step->terms().size() != 1)
        return;
    const auto& [monomial, factor] = *loop.step->terms().begin();
    const auto coefficient = [&](Symbol symbol) {
        const auto own = loop.first->terms().find(Monomial{symbol});
        return own == loop.first->terms().end() ? 0 : own->second;
    };
    const auto& symbols = nest_.symbols.all();
    for (std::uint8_t axis = 0; axis < 3; ++axis) {
        const Symbol threads{SymbolKind::BlockDim, axis};
        const Symbol blocks{SymbolKind::GridDim, axis};
        Monomial both{threads, blocks};
        std::ranges::sort(both);
        loop.axis = axis;
        // From f * (block * size + thread), or f * block * size + thread: each thread's own.
        const std::int64_t extra = coefficient({SymbolKind::ThreadIdx, axis});
        if (monomial == both && factor > 0 && (extra == 0 || extra == 1 - factor))
            for (std::uint32_t id = 0; id < symbols.size(); ++id)
                if (symbols[id].kind == NestSymbolKind::Position && symbols[id].axis == axis &&
                    coefficient({SymbolKind::Named, id}) == factor &&
                    coefficient({SymbolKind::BlockIdx, axis}) == 0) {
                    loop.style = NestLoopStyle::GridStride;
                    return;
                }
        const std::int64_t onThread = coefficient({SymbolKind::ThreadIdx, axis});
        if (monomial == Monomial{threads} && onThread == factor) {
            loop.style = NestLoopStyle::BlockStride;
            return;
        }
        if (monomial == Monomial{blocks} && coefficient({SymbolKind::BlockIdx, axis}) == factor) {
            loop.style = NestLoopStyle::BlocksOfGrid;
            return;
        }
        if (monomial.empty() && onThread > 0 && nest_.extents.block[axis] &&
            factor == onThread * *nest_.extents.block[axis]) {
            loop.style = NestLoopStyle::BlockStride;
            return;
        }
    }
    loop.axis = 0;
    if (!monomial.empty())
        return;
    for (std::uint32_t id = 0; id < symbols.size(); ++id)
        if (symbols[id].op == "%" && factor > 0 && coefficient({SymbolKind::Named, id}) > 0 &&
            symbols[id].operands[1] ==
                IndexExpression::constant(factor / coefficient({SymbolKind::Named, id})) &&
            !nest_.symbols.contains(symbols[id].operands[0], NestSymbolKind::Iterator)) {
            loop.style = NestLoopStyle::WarpStride;
            return;
        }
}

} // namespace kernelskill::analysis
