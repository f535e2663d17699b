#include "engine/proof/thread_run.h"

#include "analysis/syntax/lexer.h"
#include "engine/proof/environment.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// Statements of one run, rounds of unrolled loops counted each.
constexpr std::size_t maxSteps = 20'000;
constexpr std::size_t maxTerms = 200'000;

} // namespace

ThreadRun::ThreadRun(TermTable& terms, KernelRef kernel, RunRules rules, LoopRecords& records,
                     bool isOriginal)
    : terms_(terms), kernel_(kernel), rules_(rules), records_(records), isOriginal_(isOriginal) {}

std::uint32_t ThreadRun::lineOf(Span place) const {
    return kernel_.file().source->lineColumn(place.begin).line + 1;
}

std::string ThreadRun::textOf(Span place) const {
    return std::string(kernel_.file().source->slice(place));
}

void ThreadRun::give(const std::string& reason, Span place) {
    if (trouble_.empty())
        trouble_ = fmt::format("{} on line {}", reason, lineOf(place));
}

bool ThreadRun::isOver() {
    if (trouble_.empty() && rules_.stop.stop_requested())
        trouble_ = stoppedProof;
    return !trouble_.empty();
}

std::expected<ThreadTrace, std::string> ThreadRun::run() {
    for (const Token& token : lex(kernel_.file().source->text(), kernel_.kernel.bodySpan)) {
        if (token.kind == TokenKind::Directive && !isUnrollPragma(token))
            give("a directive", token.span);
        for (const char* word : {"static", "union", "struct", "class", "enum", "using", "typedef",
                                 "goto", "asm", "volatile", "try", "thread_local"})
            if (token.is(word))
                give(fmt::format("`{}`", word), token.span);
    }
    ThreadState state;
    state.path = state.alive = state.inLoop = state.inRound = terms_.truth(true);
    state.effects = trace_.effects = terms_.symbol("start");
    if (rules_.notesAccesses)
        trace_.sections.push_back({terms_.symbol("number"), terms_.integer(0), state.path});
    state.memories["global"] = terms_.symbol("memory:global");
    const auto& parameters = kernel_.kernel.parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Type& type = parameters[i].type;
        if (type.isVolatile || type.isReference)
            give(fmt::format("the parameter {}", parameters[i].name), parameters[i].span);
        const bool isNumber = isPlainNumber(type) && isInteger(type.scalar) && !isAddress(type);
        const Term symbol =
            terms_.symbol(fmt::format("parameter{}", i),
                          isNumber ? valuesOf(type.scalar) : TermTable::unbounded());
        if (isAddress(type))
            bases_[symbol] = rules_.readOnly.contains(i) ? "constant" : "global";
        const bool isTruth = isTruthType(type);
        state.variables[parameters[i].variable] =
            isTruth ? terms_.negation(terms_.isZero(symbol, {})) : symbol;
    }
    for (VariableId id = 0; id < body().variables.size(); ++id) {
        const Variable& variable = body().variable(id);
        if (variable.storage == Storage::Shared || variable.storage == Storage::DynamicShared) {
            const Term base = baseOf(id);
            state.memories[bases_.at(base)] = terms_.symbol("memory:" + bases_.at(base));
        }
        // Two objects of other scopes that share a name cannot be told apart.
        const bool isOuter = variable.storage >= Storage::DeviceGlobal;
        for (VariableId other = 0; isOuter && other < id; ++other)
            if (body().variable(other).storage >= Storage::DeviceGlobal &&
                body().variable(other).name == variable.name)
                give(fmt::format("two objects named {}", variable.name), variable.span);
    }
    if (trouble_.empty())
        execute(body().root, state);
    trace_.effects = state.effects;
    if (!trouble_.empty())
        return std::unexpected(trouble_);
    return trace_;
}

Term ThreadRun::guard(const ThreadState& state) {
    return terms_.both(terms_.both(state.path, state.alive),
                       terms_.both(state.inLoop, state.inRound));
}

Term ThreadRun::takesPart(const ThreadState& state) {
    return terms_.both(state.inLoop, state.inRound);
}

Facts ThreadRun::facts(const ThreadState& state) {
    return terms_.literals(guard(state));
}

void ThreadRun::effect(ThreadState& state, const std::string& what, std::vector<Term> arguments,
                       Span place) {
    if (rules_.notesAccesses)
        return give("what threads do together", place);
    arguments.insert(arguments.begin(), guard(state));
    const Term done = terms_.apply("effect:" + what, std::move(arguments));
    state.effects = terms_.apply("then", {state.effects, done});
    trace_.log.push_back({state.effects, lineOf(place), what});
}

void ThreadRun::execute(StmtId id, ThreadState& state) {
    if (isOver() || id == noId)
        return;
    const Stmt& stmt = body().stmt(id);
    if (++steps_ > maxSteps || terms_.size() > maxTerms)
        return give("too much to follow", stmt.span);
    // A thread that is done, or not here, does nothing.
    if (guard(state) == terms_.truth(false))
        return;
    switch (stmt.kind) {
    case StmtKind::Compound:
        for (const StmtId child : stmt.children)
            execute(child, state);
        return;
    case StmtKind::Declaration:
        if (stmt.declared.empty())
            return give("a declaration that is not followed", stmt.span);
        for (const VariableId variable : stmt.declared)
            declare(variable, state);
        return;
    case StmtKind::Expression:
        evaluate(stmt.expr, state);
        return;
    case StmtKind::If:
        return branch(stmt, state);
    case StmtKind::For:
    case StmtKind::While:
    case StmtKind::Do:
        return loop(id, state);
    case StmtKind::Return:
        state.alive = terms_.truth(false);
        return;
    case StmtKind::Break:
        state.inLoop = terms_.truth(false);
        return;
    case StmtKind::Continue:
        state.inRound = terms_.truth(false);
        return;
    case StmtKind::Null:
        return;
    default:
        return give("a statement that is not followed", stmt.span);
    }
}

void ThreadRun::declare(VariableId id, ThreadState& state) {
    const Variable& variable = body().variable(id);
    if (variable.storage == Storage::Shared || variable.storage == Storage::DynamicShared)
        return;
    if (variable.storage != Storage::Local || variable.type.isReference || variable.type.isVolatile)
        return give(fmt::format("the declaration of {}", variable.name), variable.span);
    if (variable.type.arrayExtents.empty()) {
        state.variables[id] = variable.init == noId
                                  ? terms_.symbol(fmt::format("undefined:{}", variable.name))
                                  : evaluateAs(variable.init, variable.type, state);
        if (variable.init == noId && isTruthType(variable.type))
            state.variables[id] = terms_.apply("undefined truth:" + variable.name, {}, {0, 1});
        return;
    }
    const Term base = baseOf(id);
    const std::string memory = bases_.at(base);
    state.memories[memory] = terms_.symbol("undefined:" + memory);
    if (variable.init == noId)
        return;
    const Expr& init = body().expr(variable.init);
    if (init.kind != ExprKind::InitList || variable.type.arrayExtents.size() > 1 ||
        !isPlainNumber(variable.type)) {
        const bool isEmpty = init.kind == ExprKind::InitList && init.children.empty();
        if (!isEmpty || variable.type.scalar == ScalarKind::Unknown || variable.type.lanes != 1)
            return give(fmt::format("how {} is initialised", variable.name), variable.span);
    }
    state.memories[memory] = terms_.symbol("zeros:" + memory);
    Type element = variable.type;
    element.arrayExtents.clear();
    element.size = element.elementSize;
    element.canonical = element.canonical.substr(0, element.canonical.find('['));
    for (std::size_t i = 0; i < init.children.size(); ++i) {
        Place place;
        place.type = element;
        place.address = terms_.add(base, terms_.multiply(terms_.integer(static_cast<Wide>(i)),
                                                         elementSize(variable.type)));
        write(place, evaluateAs(init.children[i], element, state), state, variable.span);
    }
}

void ThreadRun::either(ThreadState& state, Term condition, const Part& first, const Part& second) {
    condition = terms_.decided(condition, facts(state));
    if (condition == terms_.truth(true))
        return first(state);
    if (condition == terms_.truth(false))
        return second(state);
    ThreadState then = state;
    ThreadState otherwise = state;
    const Term opposite = terms_.negation(condition);
    then.path = terms_.both(state.path, condition);
    otherwise.path = terms_.both(state.path, opposite);
    // Effects of both branches are put into one order, whichever of them is written first.
    if (condition < opposite) {
        first(then);
        otherwise.effects = then.effects;
        second(otherwise);
        state.effects = otherwise.effects;
    } else {
        second(otherwise);
        then.effects = otherwise.effects;
        first(then);
        state.effects = then.effects;
    }
    merge(state, condition, then, otherwise);
}

void ThreadRun::merge(ThreadState& state, Term condition, const ThreadState& then,
                      const ThreadState& otherwise) {
    const Term never = terms_.truth(false);
    const bool thenGone = guard(then) == never;
    const bool otherwiseGone = guard(otherwise) == never;
    const auto merged = [&](Term chosen, Term other, bool isTruth) {
        if (thenGone)
            return other;
        return otherwiseGone ? chosen : terms_.choice(condition, chosen, other, isTruth);
    };
    for (auto& [id, value] : state.variables)
        value = merged(then.variables.at(id), otherwise.variables.at(id),
                       isTruthType(body().variable(id).type));
    for (auto& [name, value] : state.memories)
        value = merged(then.memories.at(name), otherwise.memories.at(name), false);
    state.alive = terms_.choice(condition, then.alive, otherwise.alive, true);
    state.inLoop = terms_.choice(condition, then.inLoop, otherwise.inLoop, true);
    state.inRound = terms_.choice(condition, then.inRound, otherwise.inRound, true);
}

void ThreadRun::branch(const Stmt& stmt, ThreadState& state) {
    if (!stmt.declared.empty() || stmt.condition == noId || stmt.children.empty())
        return give("a condition that declares", stmt.span);
    execute(stmt.init, state);
    const Term holds = condition(stmt.condition, state);
    either(
        state, holds, [&](ThreadState& then) { execute(stmt.children[0], then); },
        [&](ThreadState& otherwise) {
            if (stmt.children.size() > 1)
                execute(stmt.children[1], otherwise);
        });
}

Term ThreadRun::condition(ExprId id, ThreadState& state) {
    const Expr& expr = body().expr(id);
    const bool isShort = expr.kind == ExprKind::Binary && (expr.op == "&&" || expr.op == "||");
    if (!isShort || !isPlainNumber(body().expr(expr.children[0]).type) ||
        !isPlainNumber(body().expr(expr.children[1]).type))
        return truthOf(evaluate(id, state), expr.type, state);
    const Term left = condition(expr.children[0], state);
    Term right = terms_.truth(expr.op == "||");
    const auto evaluateRight = [&](ThreadState& reached) {
        right = condition(expr.children[1], reached);
    };
    const auto skip = [](ThreadState&) {};
    if (expr.op == "&&") {
        right = terms_.truth(false);
        either(state, left, evaluateRight, skip);
        return terms_.both(left, right);
    }
    either(state, left, skip, evaluateRight);
    return terms_.either(left, right);
}

Term ThreadRun::evaluateAs(ExprId id, const Type& type, ThreadState& state) {
    const Expr& expr = body().expr(id);
    if (expr.kind == ExprKind::InitList && expr.children.size() == 1 && isPlainNumber(type) &&
        plainTypeName(expr.type) == plainTypeName(type))
        return evaluateAs(expr.children[0], type, state);
    return converted(evaluate(id, state), expr.type, type, state, expr.span);
}

Term ThreadRun::evaluate(ExprId id, ThreadState& state) {
    if (isOver())
        return terms_.integer(0);
    const Expr& expr = body().expr(id);
    switch (expr.kind) {
    case ExprKind::Integer:
    case ExprKind::Floating:
        return literal(expr);
    case ExprKind::String:
        return terms_.symbol("string:" + textOf(expr.span));
    case ExprKind::Variable:
        return named(expr, state);
    case ExprKind::BuiltinIndex: {
        const bool isPosition = expr.name == "threadIdx" || expr.name == "blockIdx";
        const Wide most = expr.name == "threadIdx"  ? 1023
                          : expr.name == "blockDim" ? 1024
                                                    : (Wide{1} << 31) - 1;
        return terms_.symbol(
            fmt::format("{}.{}", expr.name, std::string_view("xyz").substr(expr.axis, 1)),
            {isPosition ? 0 : 1, most});
    }
    case ExprKind::Member:
    case ExprKind::Subscript: {
        if (expr.kind == ExprKind::Member && !expr.isArrow && !expr.children.empty()) {
            const Expr& object = body().expr(expr.children[0]);
            const bool isValue = object.kind == ExprKind::Call ||
                                 object.kind == ExprKind::InitList ||
                                 object.kind == ExprKind::Binary;
            if (isValue)
                return memberOf(evaluate(expr.children[0], state), expr.name, object.type,
                                expr.type, false);
        }
        const Place at = place(id, state);
        return trouble_.empty() ? read(at, state, expr.span) : terms_.integer(0);
    }
    case ExprKind::Call:
        return call(expr, state);
    case ExprKind::Unary:
        return unary(expr, state);
    case ExprKind::Binary:
        return binary(expr, state);
    case ExprKind::Conditional: {
        const Term holds = condition(expr.children[0], state);
        Term chosen = terms_.integer(0);
        Term other = chosen;
        either(
            state, holds,
            [&](ThreadState& then) {
                other = chosen = evaluateAs(expr.children[1], expr.type, then);
            },
            [&](ThreadState&) {});
        either(
            state, holds, [&](ThreadState&) {},
            [&](ThreadState& otherwise) {
                other = evaluateAs(expr.children[2], expr.type, otherwise);
            });
        const Term decided = terms_.decided(holds, facts(state));
        if (decided == terms_.truth(false))
            return other;
        return decided == terms_.truth(true)
                   ? chosen
                   : terms_.choice(holds, chosen, other, isTruthType(expr.type));
    }
    case ExprKind::Cast:
        if (expr.type.isReference)
            give("a cast to a reference", expr.span);
        return evaluateAs(expr.children[0], expr.type, state);
    case ExprKind::InitList:
        return initialised(expr, state);
    case ExprKind::Other:
        break;
    }
    give(expr.name.empty() ? "an expression that is not followed" : expr.name, expr.span);
    return terms_.integer(0);
}

} // namespace kernelskill::engine
