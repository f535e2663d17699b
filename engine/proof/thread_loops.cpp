#include "engine/proof/thread_run.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <functional>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// Loops with more rounds are not run round by round.
constexpr int maxRounds = 64;
/// Attempts to find what a loop carries; each takes a variable out, or one in.
constexpr int maxAttempts = 4;

/// The name of a variable, told apart from others of that name.
std::string slotName(const FunctionBody& body, VariableId id) {
    std::size_t number = 0;
    for (VariableId other = 0; other < id; ++other)
        number += body.variable(other).name == body.variable(id).name ? 1U : 0U;
    return number == 0 ? body.variable(id).name
                       : fmt::format("{}#{}", body.variable(id).name, number);
}

} // namespace

IntegerRange ThreadRun::rangeOf(VariableId id) const {
    const Type& type = body().variable(id).type;
    const bool isNumber = isPlainNumber(type) && !isAddress(type) && isInteger(type.scalar);
    return isNumber ? valuesOf(type.scalar) : TermTable::unbounded();
}

void ThreadRun::collectAssigned(ExprId id, std::set<VariableId>& assigned) const {
    if (id == noId)
        return;
    const Expr& expr = body().expr(id);
    const bool changes =
        (expr.kind == ExprKind::Binary && assigns(expr.op)) ||
        (expr.kind == ExprKind::Unary && (expr.op.ends_with("++") || expr.op.ends_with("--")));
    if (changes && !expr.children.empty()) {
        ExprId target = expr.children[0];
        while (body().expr(target).kind == ExprKind::Member &&
               !body().expr(target).children.empty())
            target = body().expr(target).children[0];
        const Expr& root = body().expr(target);
        if (root.kind == ExprKind::Variable && root.variable != noId)
            assigned.insert(root.variable);
    }
    for (const ExprId child : expr.children)
        collectAssigned(child, assigned);
}

std::set<VariableId> ThreadRun::assignedIn(const Stmt& loop) const {
    std::set<VariableId> assigned;
    collectAssigned(loop.condition, assigned);
    collectAssigned(loop.increment, assigned);
    const std::function<void(StmtId)> visit = [&](StmtId id) {
        if (id == noId)
            return;
        const Stmt& stmt = body().stmt(id);
        collectAssigned(stmt.expr, assigned);
        collectAssigned(stmt.condition, assigned);
        collectAssigned(stmt.increment, assigned);
        visit(stmt.init);
        for (const VariableId variable : stmt.declared) {
            assigned.insert(variable);
            collectAssigned(body().variable(variable).init, assigned);
        }
        for (const StmtId child : stmt.children)
            visit(child);
    };
    for (const StmtId child : loop.children)
        visit(child);
    return assigned;
}

/// The condition and the state after one round; what the round starts from is the caller's.
ThreadRun::Round ThreadRun::round(const Stmt& stmt, ThreadState start) {
    Round result;
    const StmtId inner = stmt.children.empty() ? noId : stmt.children.back();
    const Term before = start.path;
    const auto test = [&](ThreadState& state) {
        return stmt.condition == noId ? terms_.truth(true) : condition(stmt.condition, state);
    };
    const auto work = [&](ThreadState& state) {
        execute(inner, state);
        state.inRound = terms_.truth(true);
    };
    if (stmt.kind == StmtKind::Do) {
        work(start);
        result.condition = test(start);
    } else {
        result.condition = test(start);
        start.path = terms_.both(start.path, result.condition);
        work(start);
        if (stmt.increment != noId)
            evaluate(stmt.increment, start);
        start.path = before;
    }
    result.end = std::move(start);
    return result;
}

void ThreadRun::loop(StmtId id, ThreadState& state) {
    const Stmt& stmt = body().stmt(id);
    if (!stmt.declared.empty() || stmt.children.empty())
        return give("a loop that declares in its condition", stmt.span);
    execute(stmt.init, state);
    if (!trouble_.empty())
        return;
    const ThreadState before = state;
    if (rules_.notesAccesses) {
        if (!spreads(stmt, state) && !unfolded(stmt, state))
            give("a loop of unknown length", stmt.span);
    } else if (rules_.unrolls && unrolled(stmt, state)) {
        // Nothing else to do.
    } else if (isOriginal_) {
        record(stmt, state);
    } else if (!matched(stmt, state) && !resumes(stmt, state) && !splits(stmt, state) &&
               !(rules_.coversElements && runsOnce(stmt, state))) {
        give("no loop of the original was found to do the same as the loop", stmt.span);
    }
    // A thread that has left the round around this loop does nothing in it.
    const Term takes = takesPart(before);
    for (auto& [id, value] : state.variables)
        if (before.variables.contains(id))
            value = terms_.choice(takes, value, before.variables.at(id),
                                  isTruthType(body().variable(id).type));
    for (auto& [name, contents] : state.memories)
        if (before.memories.contains(name))
            contents = terms_.choice(takes, contents, before.memories.at(name), false);
}

bool ThreadRun::unrolled(const Stmt& stmt, ThreadState& state) {
    if (stmt.kind == StmtKind::Do || stmt.condition == noId)
        return false;
    const ThreadState start = state;
    const ThreadTrace trace = trace_;
    const std::size_t records = records_.size();
    const auto rewind = [&] {
        state = start;
        trace_ = trace;
        if (isOriginal_)
            records_.resize(records);
        return false;
    };
    const StmtId inner = stmt.children.back();
    for (int count = 0; count <= maxRounds; ++count) {
        const Term holds = terms_.decided(condition(stmt.condition, state), facts(state));
        if (!trouble_.empty())
            return true;
        const bool isGone = guard(state) == terms_.truth(false);
        if (holds == terms_.truth(false) || isGone) {
            state.inLoop = start.inLoop;
            return true;
        }
        if (holds != terms_.truth(true))
            return rewind();
        execute(inner, state);
        state.inRound = start.inRound;
        if (stmt.increment != noId)
            evaluate(stmt.increment, state);
        if (!trouble_.empty())
            return true;
    }
    return rewind();
}

/// Runs one round from symbols for all that a round changes. What it changes is found by trying.
void ThreadRun::record(const Stmt& stmt, ThreadState& state) {
    const std::size_t number = records_.size();
    records_.emplace_back();
    const std::size_t logged = trace_.log.size();
    std::set<VariableId> variables;
    for (const VariableId id : assignedIn(stmt))
        if (state.variables.contains(id))
            variables.insert(id);
    std::set<std::string> memories;
    for (const auto& [name, contents] : state.memories)
        memories.insert(name);
    std::map<VariableId, Wide> lows;
    for (int attempt = 0; attempt < maxAttempts; ++attempt) {
        records_.resize(number + 1);
        trace_.log.resize(logged);
        const std::string prefix = fmt::format("loop{}.{}.{}", number, attempt, fresh_++);
        ThreadState start = state;
        start.path = guard(state);
        start.alive = start.inLoop = start.inRound = terms_.truth(true);
        start.effects = terms_.symbol("round");
        LoopRecord found;
        found.guard = start.path;
        found.testsLast = stmt.kind == StmtKind::Do;
        std::map<VariableId, LoopRecord::Slot> slots;
        for (const VariableId id : variables) {
            IntegerRange range = rangeOf(id);
            if (lows.contains(id))
                range.low = std::max(range.low, lows.at(id));
            const std::string name = slotName(body(), id);
            const bool isTruth = isTruthType(body().variable(id).type);
            const auto symbol = [&](const std::string& suffix) {
                const std::string full = fmt::format("{}:{}{}", prefix, name, suffix);
                return isTruth ? terms_.apply("$" + full, {}, {0, 1}) : terms_.symbol(full, range);
            };
            slots[id] = {state.variables.at(id), symbol(""), 0, symbol(" out")};
            start.variables[id] = slots[id].symbol;
        }
        for (const std::string& name : memories) {
            found.memories[name] = {state.memories.at(name),
                                    terms_.symbol(fmt::format("{}:memory {}", prefix, name)), 0,
                                    terms_.symbol(fmt::format("{}:memory {} out", prefix, name))};
            start.memories[name] = found.memories[name].symbol;
        }
        const ThreadState begin = start;
        const Round done = round(stmt, std::move(start));
        if (!trouble_.empty())
            return;
        // Is what this attempt took for granted true of the round?
        bool holds = true;
        std::set<VariableId> changed;
        std::map<VariableId, Wide> grown;
        for (const auto& [id, value] : begin.variables) {
            const Term now = done.end.variables.at(id);
            if (now == value)
                continue;
            if (!variables.contains(id)) {
                holds = false;
                variables.insert(id);
            }
            changed.insert(id);
            const Term step = terms_.subtract(now, value);
            const Type& type = body().variable(id).type;
            const bool isNumber = isPlainNumber(type) && !isAddress(type) &&
                                  isInteger(type.scalar) && !isTruthType(type);
            if (isNumber && slots.contains(id) && terms_.range(step, {}).low >= 0)
                grown[id] = terms_.range(slots.at(id).before, {}).low;
        }
        for (const auto& [id, low] : lows)
            holds = holds && (!variables.contains(id) || !changed.contains(id) ||
                              (grown.contains(id) && grown.at(id) >= low));
        std::set<std::string> touched;
        for (const auto& [name, contents] : begin.memories)
            if (done.end.memories.at(name) != contents) {
                touched.insert(name);
                holds = holds && memories.contains(name);
            }
        const bool isFinal = holds && changed == variables && touched == memories && lows == grown;
        if (isFinal || (holds && attempt + 1 == maxAttempts)) {
            for (auto& [id, slot] : slots) {
                slot.after = done.end.variables.at(id);
                found.variables[slotName(body(), id)] = slot;
                state.variables[id] = slot.out;
            }
            for (auto& [name, slot] : found.memories) {
                slot.after = done.end.memories.at(name);
                state.memories[name] = slot.out;
            }
            found.condition = done.condition;
            found.effects = done.end.effects;
            found.alive = done.end.alive;
            found.inLoop = done.end.inLoop;
            found.isComplete = true;
            records_[number] = std::move(found);
            return leave(state, number, stmt.span);
        }
        if (holds) {
            variables = changed;
            memories = touched;
            lows = grown;
        } else {
            lows.clear();
        }
    }
    give("what a round carries over was not found out for the loop", stmt.span);
}

/// The state behind a loop that does what a record says.
void ThreadRun::leave(ThreadState& state, std::size_t record, Span place) {
    effect(state, "loop", {terms_.integer(static_cast<Wide>(record))}, place);
    if (records_[record].alive != terms_.truth(true))
        state.alive = terms_.both(
            state.alive, terms_.apply(fmt::format("alive after loop {}", record), {}, {0, 1}));
}

bool ThreadRun::matched(const Stmt& stmt, ThreadState& state) {
    const ThreadState start = state;
    const ThreadTrace trace = trace_;
    std::string first;
    for (std::size_t record = 0; record < records_.size(); ++record) {
        if (!records_[record].isComplete || records_[record].guard != guard(state) ||
            records_[record].testsLast != (stmt.kind == StmtKind::Do))
            continue;
        if (matchedWith(record, stmt, state))
            return true;
        state = start;
        trace_ = trace;
        if (first.empty())
            first = trouble_;
        trouble_.clear();
    }
    return false;
}

bool ThreadRun::matchedWith(std::size_t number, const Stmt& stmt, ThreadState& state) {
    const LoopRecord record = records_[number];
    std::set<VariableId> variables;
    for (const VariableId id : assignedIn(stmt))
        if (state.variables.contains(id))
            variables.insert(id);
    // The variable of the original that each stands for: of the same name, or of the same start.
    std::map<VariableId, std::string> partners;
    std::set<std::string> taken;
    for (const VariableId id : variables) {
        const auto same = record.variables.find(slotName(body(), id));
        if (same != record.variables.end() && same->second.before == state.variables.at(id)) {
            partners[id] = same->first;
            taken.insert(same->first);
        }
    }
    for (const VariableId id : variables) {
        if (partners.contains(id))
            continue;
        for (const auto& [name, slot] : record.variables)
            if (!partners.contains(id) && !taken.contains(name) &&
                slot.before == state.variables.at(id)) {
                partners[id] = name;
                taken.insert(name);
            }
    }
    for (const auto& [name, slot] : record.memories)
        if (!state.memories.contains(name) || state.memories.at(name) != slot.before)
            return false;
    const ThreadTrace trace = trace_;
    for (int attempt = 0; attempt < maxAttempts; ++attempt) {
        trace_ = trace;
        ThreadState start = state;
        start.path = guard(state);
        start.alive = start.inLoop = start.inRound = terms_.truth(true);
        start.effects = terms_.symbol("round");
        const auto own = [&](VariableId id) {
            const std::string name = fmt::format("own{}:{}", fresh_++, slotName(body(), id));
            return isTruthType(body().variable(id).type) ? terms_.apply("$" + name, {}, {0, 1})
                                                         : terms_.symbol(name, rangeOf(id));
        };
        for (const VariableId id : variables)
            start.variables[id] =
                partners.contains(id) ? record.variables.at(partners.at(id)).symbol : own(id);
        for (const auto& [name, slot] : record.memories)
            start.memories[name] = slot.symbol;
        const ThreadState begin = start;
        const Round done = round(stmt, std::move(start));
        if (!trouble_.empty())
            return false;
        bool isStable = true;
        for (const auto& [id, value] : begin.variables) {
            const Term now = done.end.variables.at(id);
            const auto partner = partners.find(id);
            const bool holds = partner != partners.end()
                                   ? now == record.variables.at(partner->second).after
                                   : variables.contains(id) || now == value;
            if (!holds && partner == partners.end())
                return false;
            if (!holds) {
                partners.erase(partner);
                isStable = false;
            }
        }
        if (!isStable)
            continue;
        for (const auto& [name, contents] : begin.memories) {
            const auto slot = record.memories.find(name);
            const Term expected = slot == record.memories.end() ? contents : slot->second.after;
            if (done.end.memories.at(name) != expected)
                return false;
        }
        if (done.condition != record.condition || done.end.effects != record.effects ||
            done.end.alive != record.alive || done.end.inLoop != record.inLoop)
            return false;
        for (const VariableId id : variables)
            state.variables[id] =
                partners.contains(id) ? record.variables.at(partners.at(id)).out : own(id);
        for (const auto& [name, slot] : record.memories)
            state.memories[name] = slot.out;
        leave(state, number, stmt.span);
        return true;
    }
    return false;
}

/// A grid-stride loop, of which each thread runs one round at most if the grid covers all elements.
bool ThreadRun::runsOnce(const Stmt& stmt, ThreadState& state) {
    if (stmt.kind != StmtKind::For || stmt.condition == noId || stmt.increment == noId)
        return false;
    const Term inLoop = state.inLoop;
    const Term inRound = state.inRound;
    const Term first = condition(stmt.condition, state);
    Term again = terms_.truth(false);
    either(
        state, first,
        [&](ThreadState& then) {
            execute(stmt.children.back(), then);
            then.inRound = inRound;
            evaluate(stmt.increment, then);
            ThreadState next = then;
            again = condition(stmt.condition, next);
        },
        [](ThreadState&) {});
    state.inLoop = inLoop;
    for (const Term literal : terms_.literals(again)) {
        const std::vector<Term>* negative = terms_.argumentsOf(literal, "negative");
        if (negative == nullptr)
            continue;
        const Term below = negative->front();
        for (const char* axis : {"x", "y", "z"}) {
            const auto index = [&](const char* name, Wide low, Wide high) {
                return terms_.symbol(fmt::format("{}.{}", name, axis), {low, high});
            };
            constexpr Wide most = (Wide{1} << 31) - 1;
            const Term size = index("blockDim", 1, 1024);
            const Term threads = terms_.multiply(index("gridDim", 1, most), size);
            const Term position = terms_.add(terms_.multiply(index("blockIdx", 0, most), size),
                                             index("threadIdx", 0, 1023));
            // below = threads + position - elements, for a number of elements that is given.
            const Term elements = terms_.subtract(terms_.add(threads, position), below);
            const std::vector<TermTable::Monomial> parts = terms_.monomials(elements);
            const bool isGiven = std::ranges::all_of(parts, [&](const TermTable::Monomial& part) {
                return std::ranges::all_of(part.atoms, [&](Term atom) {
                    const std::string name = terms_.describe(atom, 1);
                    return name.starts_with("$parameter") || name.starts_with("$outer") ||
                           name.starts_with("member:");
                });
            });
            // The first round is that of a thread below the same number.
            const Term within = terms_.isNegative(terms_.subtract(position, elements), {});
            const Facts reached = terms_.literals(first);
            if (!isGiven || std::ranges::find(reached, within) == reached.end())
                continue;
            const Expr& test = body().expr(stmt.condition);
            const std::string condition = fmt::format(
                "the grid has a thread for each round of the loop `{}`", textOf(test.span));
            const auto& parameters = kernel_.kernel.parameters;
            for (std::size_t i = 0; i < parameters.size(); ++i)
                if (std::string_view(axis) == "x" &&
                    terms_.functionOf(elements) == fmt::format("$parameter{}", i)) {
                    trace_.covered[i] = condition;
                    return true;
                }
            trace_.conditions.insert(condition);
            return true;
        }
    }
    return false;
}

} // namespace kernelskill::engine
