#include "analysis/model/known_functions.h"
#include "engine/proof/proof.h"
#include "engine/proof/thread_run.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// Attempts to find what a loop carries alike for all threads; each takes a variable out.
constexpr int maxUniformAttempts = 6;
/// Beginnings of the names of symbols that all threads of a block have the same value of.
constexpr auto uniformSymbols = std::to_array<std::string_view>(
    {"$parameter", "$blockIdx", "$blockDim", "$gridDim", "$outer", "$value", "$size of",
     "$offset of", "$address of", "outer truth", "truth of", "$memory:constant", "$string"});

} // namespace

Term ThreadRun::unknownValue(const Type& type, bool isUniform) {
    const bool isNumber = isPlainNumber(type) && !isAddress(type) && isInteger(type.scalar);
    const Term number = terms_.integer(static_cast<Wide>(fresh_++));
    if (isTruthType(type)) {
        const Term truth = terms_.apply("unknown truth", {number}, {0, 1});
        if (isUniform)
            trace_.uniform.insert(truth);
        return truth;
    }
    const Term value = terms_.apply("unknown", {number},
                                    isNumber ? valuesOf(type.scalar) : TermTable::unbounded());
    if (isUniform)
        trace_.uniform.insert(value);
    return value;
}

Term ThreadRun::noteAccess(const Place& place, ThreadState& state, IntervalAccess access,
                           Span where) {
    if (place.type.size == 0)
        give("an access of unknown size", where);
    access.address = place.address;
    access.size = place.type.size;
    access.guard = guard(state);
    access.intervals = state.intervals;
    access.line = lineOf(where);
    trace_.intervalAccesses.push_back(std::move(access));
    return unknownValue(place.type);
}

bool ThreadRun::isUniform(Term term) const {
    return !terms_.anyAtom(term, [&](Term atom) {
        return !trace_.uniform.contains(atom) &&
               std::ranges::none_of(uniformSymbols, [&](std::string_view begin) {
                   return std::string_view(terms_.functionOf(atom)).starts_with(begin);
               });
    });
}

void ThreadRun::reachBarrier(ThreadState& state, Span where) {
    const Term here = guard(state);
    if (!isUniform(here))
        give("a barrier that some threads may not reach", where);
    std::map<std::size_t, Term> after;
    // Those who have left the loop, or the round, are where they were.
    const Term elsewhere = terms_.negation(takesPart(state));
    for (const auto& [interval, holds] : state.intervals)
        if (const Term still = terms_.both(holds, elsewhere); still != terms_.truth(false))
            after.emplace(interval, still);
    after.emplace(intervals_++, takesPart(state));
    state.intervals = std::move(after);
}

Term ThreadRun::callBetweenBarriers(const Expr& expr, const std::string& name,
                                    const std::vector<Term>& arguments, ThreadState& state) {
    if (const auto kind = barrier(name, false, "")) {
        if (name == "__barrier_sync")
            give("a named barrier", expr.span);
        if (*kind == BarrierKind::SyncWarp)
            trace_.synchronisesWarps = true;
        const bool isReduced = *kind == BarrierKind::SyncThreadsReduce;
        if (*kind == BarrierKind::SyncThreads || isReduced)
            reachBarrier(state, expr.span);
        return isReduced ? unknownValue(expr.type, true) : terms_.integer(0);
    }
    if (warpOperation(name)) {
        trace_.synchronisesWarps = true;
        return unknownValue(expr.type);
    }
    if (!isAtomic(name))
        return unknownValue(expr.type);
    const std::string memory = arguments.empty() ? "" : memoryOf(arguments.front());
    const Type& pointer = body().expr(expr.children.empty() ? 0 : expr.children[0]).type;
    if (memory.empty() || memory == "constant" || pointer.elementSize == 0) {
        give(fmt::format("the call of {}", expr.name), expr.span);
        return terms_.integer(0);
    }
    Place at;
    at.address = arguments.front();
    at.type = expr.type;
    at.type.size = pointer.elementSize;
    return noteAccess(at, state,
                      {.isWrite = true,
                       .isAtomic = true,
                       .isOfBlock = name.ends_with("_block"),
                       .value = unknownValue(expr.type),
                       .memory = memory},
                      expr.span);
}

bool ThreadRun::hasBarrier(const Stmt& loop) const {
    const std::function<bool(ExprId)> calls = [&](ExprId id) {
        if (id == noId)
            return false;
        const Expr& expr = body().expr(id);
        const auto kind = expr.kind == ExprKind::Call ? barrier(expr.name, false, "")
                                                      : std::optional<BarrierKind>();
        return (kind && *kind != BarrierKind::SyncWarp && *kind != BarrierKind::Fence) ||
               std::ranges::any_of(expr.children, calls);
    };
    const std::function<bool(StmtId)> visit = [&](StmtId id) {
        if (id == noId)
            return false;
        const Stmt& stmt = body().stmt(id);
        return calls(stmt.expr) || calls(stmt.condition) || calls(stmt.increment) ||
               visit(stmt.init) ||
               std::ranges::any_of(
                   stmt.declared,
                   [&](VariableId variable) { return calls(body().variable(variable).init); }) ||
               std::ranges::any_of(stmt.children, visit);
    };
    return calls(loop.condition) || calls(loop.increment) ||
           std::ranges::any_of(loop.children, visit);
}

/// Puts what a thread has in the given round in the place of what it has before the loop.
/// `isBehind`: behind the loop, after so many rounds.
void ThreadRun::enterRound(const Carried& carried, Term round, const ThreadState& before,
                           ThreadState& state, bool isBehind) {
    for (const auto& [id, symbol] : carried.symbols) {
        const auto step = carried.steps.find(id);
        state.variables[id] =
            step != carried.steps.end()
                ? terms_.add(before.variables.at(id), terms_.multiply(step->second, round))
            : isBehind ? unknownValue(body().variable(id).type, carried.uniform.contains(id))
                       : symbol;
    }
    for (auto& [name, contents] : state.memories)
        if (name.starts_with("local:"))
            contents = terms_.symbol(fmt::format("own{}:{}", fresh_++, name));
}

/// Finds out by trying. `isInStep`: the loop's rounds wait for each other at a barrier.
ThreadRun::Carried ThreadRun::carriedBy(const Stmt& stmt, const ThreadState& state, bool isInStep) {
    Carried carried;
    for (const VariableId id : assignedIn(stmt))
        if (state.variables.contains(id)) {
            carried.symbols[id] = 0;
            if (isInStep && isUniform(state.variables.at(id)))
                carried.uniform.insert(id);
        }
    for (int attempt = 0; attempt < maxUniformAttempts && trouble_.empty(); ++attempt) {
        const ThreadTrace trace = trace_;
        for (auto& [id, symbol] : carried.symbols)
            symbol = unknownValue(body().variable(id).type, carried.uniform.contains(id));
        carried.steps.clear();
        ThreadState start = state;
        enterRound(carried, terms_.integer(0), state, start, false);
        start.path = guard(state);
        start.alive = start.inLoop = start.inRound = terms_.truth(true);
        const Round done = round(stmt, std::move(start));
        std::set<VariableId> uniform;
        for (const auto& [id, symbol] : carried.symbols) {
            Term now = done.end.variables.at(id);
            if (carried.uniform.contains(id) && isUniform(now))
                uniform.insert(id);
            // A counter is taken not to wrap around.
            for (const char* wrap : {"wrapu32", "wrapu64", "wraps32"})
                if (const std::vector<Term>* inner = terms_.argumentsOf(now, wrap))
                    now = inner->front();
            const Type& type = body().variable(id).type;
            const bool isCounter = (isAddress(type) || isInteger(type.scalar)) &&
                                   isPlainNumber(type) && !isTruthType(type);
            const Term step = terms_.subtract(now, symbol);
            // A value of this round would be another one in the next.
            const bool mayChange = terms_.anyAtom(step, [&](Term atom) {
                const std::string_view name = terms_.functionOf(atom);
                return name.starts_with("unknown") || name.starts_with("$round") ||
                       name.starts_with("$own") || name.starts_with("$undefined");
            });
            if (isCounter && !mayChange)
                carried.steps[id] = step;
        }
        const std::set<Term> known = trace_.uniform;
        trace_ = trace;
        trace_.uniform = known;
        if (uniform == carried.uniform)
            return carried;
        carried.uniform = std::move(uniform);
    }
    carried.uniform.clear();
    give("what a round carries over was not found out for the loop", stmt.span);
    return carried;
}

/// Notes what a round does before its first barrier, which the round before it may meet behind its
/// last one.
void ThreadRun::followNextRound(const Stmt& stmt, const Round& before, Term path) {
    ThreadState next = before.end;
    next.path = stmt.kind == StmtKind::Do ? terms_.both(path, before.condition) : path;
    next.alive = next.inLoop = next.inRound = terms_.truth(true);
    for (auto& [name, contents] : next.memories)
        if (name.starts_with("local:"))
            contents = terms_.symbol(fmt::format("own{}:{}", fresh_++, name));
    const std::size_t begin = trace_.intervalAccesses.size();
    (void)round(stmt, std::move(next));
    const auto isElsewhere = [&](const IntervalAccess& access) {
        return std::ranges::none_of(access.intervals, [&](const auto& in) {
            return before.end.intervals.contains(in.first);
        });
    };
    const auto elsewhere =
        std::remove_if(trace_.intervalAccesses.begin() + static_cast<std::ptrdiff_t>(begin),
                       trace_.intervalAccesses.end(), isElsewhere);
    trace_.intervalAccesses.erase(elsewhere, trace_.intervalAccesses.end());
}

/// A round that may be any, and for a loop with barriers what the next one does before its first.
void ThreadRun::followRounds(const Stmt& stmt, ThreadState& state) {
    const bool isInStep = hasBarrier(stmt);
    if (isInStep && stmt.kind != StmtKind::Do && unrolled(stmt, state))
        return;
    if (!trouble_.empty())
        return;
    const ThreadState before = state;
    ThreadState probe = before;
    const std::size_t noted = trace_.intervalAccesses.size();
    const Term enters = stmt.kind == StmtKind::Do || stmt.condition == noId
                            ? terms_.truth(true)
                            : condition(stmt.condition, probe);
    // The round notes what its condition reads.
    trace_.intervalAccesses.resize(noted);
    const Carried carried = carriedBy(stmt, before, isInStep);
    if (!trouble_.empty())
        return;
    const IntegerRange rounds{0, Wide{1} << 31};
    const Term round = terms_.symbol(fmt::format("round{}", fresh_++), rounds);
    if (isInStep)
        trace_.uniform.insert(round);
    ThreadState start = before;
    enterRound(carried, round, before, start, false);
    start.path = guard(before);
    start.alive = start.inLoop = start.inRound = terms_.truth(true);
    const std::size_t entry = intervals_++;
    if (isInStep) {
        // The first round goes on in the interval that the loop is reached in.
        const Term isFirst = terms_.isZero(round, {});
        start.intervals.clear();
        for (const auto& [interval, holds] : before.intervals)
            start.intervals.emplace(interval, terms_.both(holds, isFirst));
        start.intervals.emplace(entry, terms_.truth(true));
    }
    const Round first = this->round(stmt, start);
    if (!trouble_.empty())
        return;
    const std::map<std::size_t, Term> last = first.end.intervals;
    if (isInStep) {
        const Term stays = terms_.both(first.end.alive, first.end.inLoop);
        if (const auto still = last.find(entry);
            still != last.end() && terms_.both(still->second, stays) != terms_.truth(false))
            return give("a loop whose rounds may not reach a barrier", stmt.span);
        followNextRound(stmt, first, terms_.both(start.path, stays));
    }
    state = before;
    // How many rounds there were is no number that a thread may choose.
    const Term all = terms_.apply("unknown", {terms_.integer(static_cast<Wide>(fresh_++))}, rounds);
    if (isInStep)
        trace_.uniform.insert(all);
    enterRound(carried, all, before, state, true);
    if (isInStep) {
        state.intervals.clear();
        const Term skips = terms_.negation(enters);
        for (const auto& [interval, holds] : before.intervals)
            if (const Term still = terms_.both(holds, skips); still != terms_.truth(false))
                state.intervals.emplace(interval, still);
        for (const auto& [interval, holds] : last)
            state.intervals.insert_or_assign(interval, terms_.truth(true));
    }
    if (first.end.alive != terms_.truth(true)) {
        Type truth;
        truth.scalar = ScalarKind::Bool;
        truth.canonical = "bool";
        state.alive =
            terms_.both(state.alive, unknownValue(truth, isInStep && isUniform(first.end.alive)));
    }
}

} // namespace kernelskill::engine
