#include "engine/proof/thread_run.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// Rounds of the original that one round of the candidate may do.
constexpr auto roundsAtOnce = std::to_array<int>({2, 4, 8});

std::string_view withoutNumber(std::string_view name) {
    const auto last = name.find_last_not_of("0123456789");
    return name.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

} // namespace

/// A loop that does several rounds of the original's at once, with a sum of its own for each.
bool ThreadRun::splits(const Stmt& stmt, ThreadState& state) {
    if (!rules_.overReals || stmt.kind == StmtKind::Do)
        return false;
    const ThreadState start = state;
    const ThreadTrace trace = trace_;
    for (std::size_t record = 0; record < records_.size(); ++record)
        for (const int rounds : roundsAtOnce) {
            if (splitsRecord(record, rounds, stmt, state))
                return true;
            state = start;
            trace_ = trace;
            trouble_.clear();
        }
    return false;
}

/// Whether a round of the record only folds values into variables.
bool ThreadRun::onlyFolds(const LoopRecord& record, const ThreadState& state) {
    return record.isComplete && !record.testsLast && record.guard == guard(state) &&
           record.alive == terms_.truth(true) && record.inLoop == terms_.truth(true) &&
           record.effects == terms_.symbol("round") && record.memories.empty();
}

bool ThreadRun::changesVariablesAlone(const ThreadState& before, const ThreadState& after,
                                      const std::set<VariableId>& changed) {
    return after.alive == terms_.truth(true) && after.inLoop == terms_.truth(true) &&
           after.effects == before.effects && after.memories == before.memories &&
           std::ranges::all_of(before.variables, [&](const auto& entry) {
               return changed.contains(entry.first) ||
                      after.variables.at(entry.first) == entry.second;
           });
}

Term ThreadRun::freshSymbol(VariableId id) {
    return terms_.symbol(fmt::format("own{}:{}", fresh_++, body().variable(id).name), rangeOf(id));
}

ThreadState ThreadRun::roundStart(const ThreadState& state) {
    ThreadState start = state;
    start.path = guard(state);
    start.alive = start.inLoop = start.inRound = terms_.truth(true);
    start.effects = terms_.symbol("round");
    return start;
}

bool ThreadRun::splitsRecord(std::size_t number, int rounds, const Stmt& stmt, ThreadState& state) {
    const LoopRecord record = records_[number];
    if (!onlyFolds(record, state))
        return false;
    std::set<VariableId> variables;
    for (const VariableId id : assignedIn(stmt))
        if (state.variables.contains(id))
            variables.insert(id);
    // The original's variable that each stands for, and the further parts of its sums.
    std::map<std::string, VariableId> partners;
    std::map<std::string, std::vector<VariableId>> parts;
    for (const VariableId id : variables) {
        const auto slot = record.variables.find(body().variable(id).name);
        if (slot != record.variables.end() && slot->second.before == state.variables.at(id))
            partners[slot->first] = id;
    }
    for (const VariableId id : variables) {
        const std::string& name = body().variable(id).name;
        if (partners.contains(name) && partners.at(name) == id)
            continue;
        const std::string sum(withoutNumber(name));
        const bool isPart = partners.contains(sum) && state.variables.at(id) == terms_.integer(0) &&
                            isFloatingKind(body().variable(id).type.scalar) &&
                            isPlainNumber(body().variable(id).type);
        if (isPart) {
            parts[sum].push_back(id);
            continue;
        }
        const auto slot = std::ranges::find_if(record.variables, [&](const auto& entry) {
            return !partners.contains(entry.first) && entry.second.before == state.variables.at(id);
        });
        if (slot == record.variables.end())
            return false;
        partners[slot->first] = id;
    }
    if (parts.empty() || partners.size() != record.variables.size())
        return false;
    ThreadState start = roundStart(state);
    std::map<Term, Term> sums; // the original's sum as that of all parts
    for (const auto& [name, slot] : record.variables) {
        const VariableId id = partners.at(name);
        start.variables[id] = slot.symbol;
        if (!parts.contains(name))
            continue;
        Term sum = start.variables[id] = freshSymbol(id);
        for (const VariableId part : parts.at(name))
            sum = terms_.add(sum, start.variables[part] = freshSymbol(part));
        sums[slot.symbol] = sum;
    }
    const ThreadState begin = start;
    const Round done = round(stmt, std::move(start));
    if (!trouble_.empty() || !changesVariablesAlone(begin, done.end, variables))
        return false;
    const Facts reached = terms_.literals(terms_.both(begin.path, done.condition));
    std::map<Term, Term> now; // the original's variables after some of its rounds
    for (const auto& [name, slot] : record.variables)
        now[slot.symbol] = sums.contains(slot.symbol) ? sums.at(slot.symbol) : slot.symbol;
    for (int round = 0; round < rounds; ++round) {
        for (const Term literal : terms_.literals(terms_.substituted(record.condition, now)))
            if (terms_.decided(literal, reached) != terms_.truth(true))
                return false;
        trace_.rounds.push_back(now);
        std::map<Term, Term> next;
        for (const auto& [name, slot] : record.variables)
            next[slot.symbol] = terms_.substituted(slot.after, now);
        now = std::move(next);
    }
    for (const auto& [name, slot] : record.variables) {
        Term value = done.end.variables.at(partners.at(name));
        for (const VariableId part : parts[name])
            value = terms_.add(value, done.end.variables.at(part));
        if (value != now.at(slot.symbol))
            return false;
    }
    Resumption resumption{number, {}, {}};
    for (const auto& [name, slot] : record.variables) {
        const VariableId id = partners.at(name);
        resumption.values[name] = state.variables[id] = freshSymbol(id);
        Term rest = terms_.integer(0);
        for (const VariableId part : parts[name])
            rest = terms_.add(rest, state.variables[part] = freshSymbol(part));
        resumption.rests[name] = rest;
    }
    resumptions_.push_back(std::move(resumption));
    return true;
}

/// A loop that does the rounds which a loop of several at once has left over.
bool ThreadRun::resumes(const Stmt& stmt, ThreadState& state) {
    const ThreadState start = state;
    const ThreadTrace trace = trace_;
    for (const Resumption& resumption : resumptions_) {
        if (stmt.kind != StmtKind::Do && resumesAfter(resumption, stmt, state))
            return true;
        state = start;
        trace_ = trace;
        trouble_.clear();
    }
    return false;
}

bool ThreadRun::resumesAfter(const Resumption& resumption, const Stmt& stmt, ThreadState& state) {
    const LoopRecord record = records_[resumption.record];
    if (record.guard != guard(state))
        return false;
    std::map<std::string, VariableId> partners;
    std::set<VariableId> variables;
    for (const VariableId id : assignedIn(stmt)) {
        if (!state.variables.contains(id))
            continue;
        variables.insert(id);
        const auto slot = std::ranges::find_if(resumption.values, [&](const auto& entry) {
            return !partners.contains(entry.first) && entry.second == state.variables.at(id);
        });
        if (slot == resumption.values.end())
            return false;
        partners[slot->first] = id;
    }
    if (partners.size() != record.variables.size())
        return false;
    ThreadState begin = roundStart(state);
    std::map<Term, Term> sums;
    for (const auto& [name, slot] : record.variables) {
        const VariableId id = partners.at(name);
        begin.variables[id] = slot.symbol;
        if (resumption.rests.at(name) == terms_.integer(0))
            continue;
        begin.variables[id] = freshSymbol(id);
        sums[slot.symbol] = terms_.add(begin.variables[id], resumption.rests.at(name));
    }
    const Round done = round(stmt, begin);
    if (!trouble_.empty() || !changesVariablesAlone(begin, done.end, variables) ||
        done.condition != terms_.substituted(record.condition, sums))
        return false;
    for (const auto& [name, slot] : record.variables) {
        const Term value =
            terms_.add(done.end.variables.at(partners.at(name)), resumption.rests.at(name));
        if (value != terms_.substituted(slot.after, sums))
            return false;
    }
    for (const auto& [name, slot] : record.variables)
        state.variables[partners.at(name)] = terms_.subtract(slot.out, resumption.rests.at(name));
    leave(state, resumption.record, stmt.span);
    return true;
}

} // namespace kernelskill::engine
