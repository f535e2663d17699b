#include "engine/proof/launch_coverage.h"
#include "engine/proof/thread_run.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace kernelskill::engine {

using namespace analysis;

namespace {

constexpr std::array<std::string_view, 4> laneNames{"x", "y", "z", "w"};
/// Rounds of a loop whose number of rounds the text does not tell.
constexpr int maxUnfolded = 17;

/// The type's name, the same for all names of one type of numbers.
std::string elementName(const Type& type) {
    const bool isNumber =
        type.pointerDepth == 0 && type.lanes == 1 && type.scalar > ScalarKind::Void;
    return isNumber ? fmt::format("number{}", static_cast<int>(type.scalar)) : plainTypeName(type);
}

/// The addresses that are zero modulo `bytes` where the literal holds.
void collectAligned(const TermTable& terms, Term literal, Wide bytes, std::vector<Term>& found) {
    const std::vector<Term>* zero = terms.argumentsOf(literal, "zero");
    if (zero == nullptr)
        return;
    const Term rest = zero->front();
    const std::string& function = terms.functionOf(rest);
    if (terms.arguments(rest).size() != 2)
        return;
    Term of = terms.arguments(rest)[0];
    Term by = terms.arguments(rest)[1];
    const bool isMask = function.starts_with("&");
    if (isMask && terms.constant(of))
        std::swap(of, by);
    const auto number = terms.constant(by);
    if (!number || (!isMask && function != "%"))
        return;
    const Wide modulus = isMask ? *number + 1 : *number;
    const bool isPower = modulus > 0 && (modulus & (modulus - 1)) == 0;
    if (!isPower || modulus % bytes != 0)
        return;
    std::vector<Term> waiting{of};
    while (!waiting.empty()) {
        const Term address = waiting.back();
        waiting.pop_back();
        const bool isEither = terms.functionOf(address).starts_with("|");
        if (!isEither)
            found.push_back(address);
        else
            waiting.insert(waiting.end(), terms.arguments(address).begin(),
                           terms.arguments(address).end());
    }
}

} // namespace

Type ThreadRun::laneTypeOf(const Place& place, ThreadState& state, Span where) {
    Type lane = place.type;
    const std::string memory = memoryOf(place.address);
    if (memory.starts_with("shared:") || memory == "dynamic")
        give("memory of the block", where);
    if (place.type.lanes <= 1)
        return lane;
    if (place.type.lanes > laneNames.size() || place.type.size % place.type.lanes != 0 ||
        place.type.size == 0 || place.type.scalar == ScalarKind::Unknown)
        give("a vector that is not followed", where);
    requireAligned(place, state, where);
    lane.lanes = 1;
    lane.size = place.type.size / place.type.lanes;
    lane.canonical = elementName(lane);
    return lane;
}

void ThreadRun::requireAligned(const Place& place, const ThreadState& state, Span where) {
    const Wide bytes = place.type.alignment != 0 ? place.type.alignment : place.type.size;
    const auto isMultiple = [&](Term distance) {
        return std::ranges::all_of(terms_.monomials(distance),
                                   [&](const auto& part) { return part.factor % bytes == 0; });
    };
    std::string& condition = trace_.aligned[{place.address, bytes}];
    if (isOriginal_)
        return;
    // Tests that the facts name, and those that follow from them.
    for (const Term test : terms_.within(guard(state), "zero")) {
        std::vector<Term> known;
        collectAligned(terms_, test, bytes, known);
        const bool tells = std::ranges::any_of(known, [&](Term address) {
            return isMultiple(terms_.subtract(place.address, address));
        });
        if (tells && integers_->implies(facts(state), test))
            return;
    }
    const auto& parameters = kernel_.kernel.parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Term base = terms_.symbol(fmt::format("parameter{}", i));
        if (isAddress(parameters[i].type) && isMultiple(terms_.subtract(place.address, base))) {
            condition =
                fmt::format("{} is aligned to {} bytes", parameters[i].name, spelled(bytes));
            return;
        }
    }
    give("an access whose address may not be aligned", where);
}

Term ThreadRun::readElement(const Place& place, ThreadState& state, Span where,
                            std::string_view by) {
    const Type lane = laneTypeOf(place, state, where);
    const bool isNumber = isPlainNumber(lane) && !isAddress(lane) && isInteger(lane.scalar);
    const std::string type = elementName(lane);
    if (lane.size == 0)
        give("a read of unknown size", where);
    std::vector<Term> lanes;
    for (std::uint32_t i = 0; i < place.type.lanes && trouble_.empty(); ++i) {
        ThreadAccess access{.isWrite = false,
                            .address =
                                terms_.add(place.address, terms_.integer(Wide{lane.size} * i)),
                            .type = type,
                            .size = lane.size,
                            .guard = guard(state),
                            .section = section_,
                            .line = lineOf(where)};
        access.value = terms_.apply(fmt::format("{}:{}", by, type), {access.address},
                                    isNumber ? valuesOf(lane.scalar) : TermTable::unbounded());
        // The thread reads what it has written itself.
        for (auto last = trace_.accesses.rbegin(); last != trace_.accesses.rend(); ++last) {
            if (!last->isWrite || last->address != access.address ||
                integers_->excludes({access.guard, last->guard}))
                continue;
            if (last->type != type ||
                !integers_->implies(terms_.literals(access.guard), last->guard))
                give("a read of what may have been written", where);
            access.value = last->value;
            break;
        }
        lanes.push_back(access.value);
        trace_.accesses.push_back(std::move(access));
    }
    if (lanes.empty())
        return terms_.integer(0);
    if (place.type.lanes > 1)
        return terms_.apply("make:" + plainTypeName(place.type), std::move(lanes));
    return isTruthType(lane) ? terms_.negation(terms_.isZero(lanes.front(), {})) : lanes.front();
}

void ThreadRun::writeElement(const Place& place, Term value, ThreadState& state, Span where) {
    const Type lane = laneTypeOf(place, state, where);
    if (lane.size == 0)
        give("a write of unknown size", where);
    for (std::uint32_t i = 0; i < place.type.lanes && trouble_.empty(); ++i)
        trace_.accesses.push_back(
            {.isWrite = true,
             .address = terms_.add(place.address, terms_.integer(Wide{lane.size} * i)),
             .type = elementName(lane),
             .size = lane.size,
             .value = place.type.lanes > 1
                          ? memberOf(value, std::string(laneNames.at(i)), place.type, lane, false)
                          : value,
             .guard = guard(state),
             .section = section_,
             .line = lineOf(where)});
}

/// A loop over the grid in which no round depends on another one.
bool ThreadRun::spreads(const Stmt& stmt, ThreadState& state) {
    if (stmt.kind != StmtKind::For || stmt.condition == noId || stmt.increment == noId ||
        guard(state) != terms_.truth(true))
        return false;
    const Expr& step = body().expr(stmt.increment);
    if (step.kind != ExprKind::Binary || step.op != "+=" ||
        body().expr(step.children[0]).kind != ExprKind::Variable)
        return false;
    const VariableId id = body().expr(step.children[0]).variable;
    if (id == noId || !state.variables.contains(id) || !isPlainNumber(body().variable(id).type) ||
        !isInteger(body().variable(id).type.scalar))
        return false;
    const IntegerRange values = rangeOf(id);
    const Term number = terms_.symbol("number");
    const Term first = terms_.subtract(state.variables.at(id), number);
    std::set<Term> seen;
    if (terms_.mentions(first, number) || hasPlace(terms_, first, false, seen))
        return false;
    ThreadState round = state;
    const auto forget = [&](ThreadState& at) {
        for (const VariableId assigned : assignedIn(stmt))
            if (at.variables.contains(assigned))
                at.variables[assigned] = freshSymbol(assigned);
        for (auto& [name, contents] : at.memories)
            if (name.starts_with("local:"))
                contents = terms_.symbol(fmt::format("own{}:{}", fresh_++, name));
    };
    forget(round);
    const Term variable = round.variables[id] = rules_.item.value_or(
        terms_.symbol(fmt::format("own{}:item", fresh_++),
                      {std::max(values.low, terms_.range(first, {}).low), values.high}));
    round.path = terms_.negation(terms_.isNegative(terms_.subtract(variable, first), {}));
    const Term holds = condition(stmt.condition, round);
    round.path = terms_.both(round.path, holds);
    section_ = trace_.sections.size();
    trace_.sections.push_back({variable, first, round.path});
    const Term threads = terms_.multiply(terms_.symbol("gridDim.x", {1, (Wide{1} << 31) - 1}),
                                         terms_.symbol("blockDim.x", {1, 1024}));
    const Term next = terms_.add(variable, threads);
    if (isOriginal_ && !rules_.item && !terms_.fits(next, values, facts(round))) {
        for (const Term literal : terms_.literals(holds)) {
            const std::vector<Term>* negative = terms_.argumentsOf(literal, "negative");
            const Expr& test = body().expr(stmt.condition);
            if (negative == nullptr || test.kind != ExprKind::Binary)
                continue;
            const Term count = terms_.subtract(variable, negative->front());
            if (terms_.mentions(count, variable))
                continue;
            integers_->assume(terms_.negation(terms_.isNegative(
                terms_.subtract(terms_.integer(values.high), terms_.add(count, threads)), {})));
            trace_.conditions.insert(fmt::format("{} plus the number of threads does not overflow",
                                                 textOf(body().expr(test.children[1]).span)));
        }
    }
    execute(stmt.children.back(), round);
    if (round.alive != terms_.truth(true) || round.inLoop != terms_.truth(true))
        give("a loop over the grid that may be left", stmt.span);
    round.inRound = terms_.truth(true);
    if (!rules_.item) {
        evaluate(stmt.increment, round);
        if (trouble_.empty() && round.variables.at(id) != next)
            give("a step that is not the number of threads", stmt.span);
    }
    section_ = 0;
    forget(state);
    return true;
}

/// A loop of few rounds, each of which may be the last.
bool ThreadRun::unfolded(const Stmt& stmt, ThreadState& state) {
    if (unrolled(stmt, state))
        return true;
    if (stmt.kind == StmtKind::Do || stmt.condition == noId || !trouble_.empty())
        return false;
    const Term inLoop = state.inLoop;
    unfold(stmt, state, 0);
    state.inLoop = inLoop;
    return true;
}

void ThreadRun::unfold(const Stmt& stmt, ThreadState& state, int rounds) {
    if (rounds > maxUnfolded)
        return give("a loop of unknown length", stmt.span);
    const Term inRound = state.inRound;
    either(
        state, condition(stmt.condition, state),
        [&](ThreadState& then) {
            execute(stmt.children.back(), then);
            then.inRound = inRound;
            if (stmt.increment != noId)
                evaluate(stmt.increment, then);
            if (trouble_.empty() && guard(then) != terms_.truth(false))
                unfold(stmt, then, rounds + 1);
        },
        [](ThreadState&) {});
}

} // namespace kernelskill::engine
