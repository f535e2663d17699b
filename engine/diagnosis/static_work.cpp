#include "engine/diagnosis/static_work.h"

#include "analysis/source/gpu_constants.h"
#include "engine/diagnosis/shape_finder.h"
#include "engine/execution/emulator/compile/operation_costs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// The assumed rounds of a loop whose count is unknown, and of one that halves or doubles.
constexpr double assumedRounds = 16;
constexpr double assumedHalvings = 8;
/// The same for a loop that touches no memory: computing is all that it is there for.
constexpr double assumedSteps = 128;
/// Operations that take longer than an addition of floats, in such additions.
constexpr double doubleWeight = 2;
constexpr double integerWeight = 2;
constexpr double integerDivision = 16;
constexpr double specialFunctionUnit = 16; ///< One instruction of it.
constexpr double unknownFunction = 40;

bool isFloating(const Type& type) {
    return type.pointerDepth == 0 &&
           ((type.scalar >= ScalarKind::Half && type.scalar <= ScalarKind::Double) ||
            (type.isDependent && type.scalar == ScalarKind::Unknown));
}

bool isInteger(const Type& type) {
    return type.pointerDepth == 0 && type.scalar >= ScalarKind::Char &&
           type.scalar <= ScalarKind::UInt64;
}

bool isArithmetic(std::string_view op) {
    if (op.ends_with('=') && op.size() > 1)
        op.remove_suffix(1);
    return op == "+" || op == "-" || op == "*" || op == "/" || op == "%" || op == "^" ||
           op == "&" || op == "|" || op == "<<" || op == ">>";
}

/// A few elements on, or on another row.
bool isWithinReachOfNeighbours(std::int64_t distance, std::uint32_t width) {
    constexpr std::int64_t warpBytes = 128;
    return std::abs(distance) < warpBytes || WarpView::isRowApart(distance, width);
}

struct Count {
    double operations = 0;
    double ofFunctions = 0;
    Count& operator+=(const Count& other) {
        operations += other.operations;
        ofFunctions += other.ofFunctions;
        return *this;
    }
    Count operator*(double times) const { return {operations * times, ofFunctions * times}; }
};

/// Tells how often one call of a device function runs a place in it: once for each round of the
/// loops around it. The cases of a switch share its runs evenly.
class Repetitions {
public:
    explicit Repetitions(const KernelModel& function) {
        const FunctionBody& body = function.body;
        for (const Loop& loop : function.loops)
            factors_.emplace_back(
                body.stmt(loop.statement).span,
                loop.tripCount ? static_cast<double>(std::max<std::int64_t>(*loop.tripCount, 1))
                               : assumedSteps);
        for (const Stmt& statement : body.stmts) {
            if (statement.kind != StmtKind::Switch || statement.children.empty())
                continue;
            const Stmt& inside = body.stmt(statement.children.front());
            const auto cases = std::ranges::count_if(
                inside.children, [&](StmtId id) { return body.stmt(id).kind == StmtKind::Case; });
            if (cases > 1)
                factors_.emplace_back(inside.span, 1 / static_cast<double>(cases));
        }
    }

    [[nodiscard]] double at(Span place) const {
        double times = 1;
        for (const auto& [span, factor] : factors_)
            if (span.contains(place))
                times *= factor;
        return times;
    }

private:
    std::vector<std::pair<Span, double>> factors_;
};

class Counter {
public:
    explicit Counter(const WarpView& warp)
        : warp_(warp), nest_(warp.nest()), rounds_(nest_.nodes.size()) {}

    [[nodiscard]] Count ofStatement(NestNodeId id) const {
        const NestNode& node = nest_.node(id);
        const NestStatement* statement = node.computation();
        Count count;
        if (statement == nullptr || statement->expression == noId)
            return count;
        ofExpression(node.frame, statement->expression, false, count);
        return count;
    }

    [[nodiscard]] double roundsOf(NestNodeId id) const {
        if (!rounds_[id])
            rounds_[id] = countRounds(id);
        return *rounds_[id];
    }

    [[nodiscard]] double countRounds(NestNodeId id) const {
        const NestLoop& loop = *nest_.node(id).loop();
        if (const auto known = warp_.rounds(id))
            return static_cast<double>(std::max<std::int64_t>(*known, 1));
        const bool isGeometric = !loop.step && !loop.stepOperator.empty();
        return isGeometric ? assumedHalvings : touchesMemory(id) ? assumedRounds : assumedSteps;
    }

    [[nodiscard]] bool touchesMemory(NestNodeId loop) const {
        return std::ranges::any_of(nest_.accesses, [&](const NestAccess& access) {
            const bool isMemory = access.array == noId || !nest_.arrays[access.array].isVariable;
            return isMemory && isBelow(nest_, loop, access.node);
        });
    }

    /// The work of a round that the nest has no statements for, since it follows the numbers: of an
    /// innermost loop without accesses.
    [[nodiscard]] Count ofFollowedRound(NestNodeId id) const {
        Count count;
        const NestNode& node = nest_.node(id);
        if (node.loop() == nullptr || node.statement == noId || touchesMemory(id))
            return count;
        for (NestNodeId below = id + 1; below < nest_.nodes.size(); ++below)
            if (isBelow(nest_, id, below) &&
                (nest_.node(below).loop() != nullptr || nest_.node(below).computation() != nullptr))
                return count;
        const FunctionBody& body = warp_.functionOf(node.frame).body;
        for (const StmtId child : body.stmt(node.statement).children) {
            const Span span = body.stmt(child).span;
            for (const Expr& expr : body.exprs)
                if (expr.kind == ExprKind::Binary && span.contains(expr.span))
                    ofOperator(body, expr, false, count);
        }
        return count;
    }

private:
    /// `isIndex`: the expression is part of a subscript, which is no work.
    void ofExpression(std::uint32_t frame, ExprId id, bool isIndex, Count& count) const {
        if (id == noId)
            return;
        const FunctionBody& body = warp_.functionOf(frame).body;
        const Expr& expr = body.expr(id);
        if (expr.kind == ExprKind::Subscript && expr.children.size() == 2) {
            ofExpression(frame, expr.children[0], isIndex, count);
            ofExpression(frame, expr.children[1], true, count);
            return;
        }
        if (expr.kind == ExprKind::Binary)
            ofOperator(body, expr, isIndex, count);
        else if (expr.kind == ExprKind::Call)
            ofCall(frame, id, count);
        for (const ExprId child : expr.children)
            ofExpression(frame, child, isIndex, count);
    }

    static void ofOperator(const FunctionBody& body, const Expr& expr, bool isIndex, Count& count) {
        const bool isConstant = std::ranges::all_of(expr.children, [&](ExprId child) {
            const ExprKind kind = body.expr(child).kind;
            return kind == ExprKind::Floating || kind == ExprKind::Integer;
        });
        if (!isArithmetic(expr.op) || isConstant)
            return;
        const std::string_view op = expr.op;
        if (isFloating(expr.type)) {
            const bool isDouble = expr.type.scalar == ScalarKind::Double;
            double cost = expr.type.lanes;
            if (op.starts_with('/')) {
                cost *= costOfFunction(isDouble ? "ddiv" : "fdiv");
                count.ofFunctions += cost;
            } else if (isDouble) {
                cost *= doubleWeight;
            }
            count.operations += cost;
        } else if (isInteger(expr.type) && !isIndex) {
            count.operations +=
                op.starts_with('/') || op.starts_with('%') ? integerDivision : integerWeight;
        }
    }

    static double costOfFunction(std::string_view name) {
        const auto cost = costOf(name, false);
        if (!cost)
            return 0;
        double operations = 0;
        for (const OperationCost& part : cost->operations) {
            using emulator::Counter;
            const bool isFused = part.counter == Counter::SingleFused ||
                                 part.counter == Counter::DoubleFused ||
                                 part.counter == Counter::HalfFused;
            const bool isDouble = part.counter == Counter::DoubleAdds ||
                                  part.counter == Counter::DoubleMultiplies ||
                                  part.counter == Counter::DoubleFused;
            if (part.counter == Counter::UncountedCalls)
                operations += unknownFunction;
            else if (part.counter != Counter::HalfOperations)
                operations += part.count * (isFused ? 2.0 : 1.0) * (isDouble ? doubleWeight : 1.0);
        }
        return operations;
    }

    void ofCall(std::uint32_t frame, ExprId id, Count& count) const {
        const KernelModel& function = warp_.functionOf(frame);
        const Expr& expr = function.body.expr(id);
        const auto known = std::ranges::find(function.mathCalls, id, &MathCall::call);
        if (known != function.mathCalls.end()) {
            double cost = costOfFunction(expr.name);
            if (known->isSpecialFunction) {
                cost += specialFunctionUnit;
                count.ofFunctions += cost;
            }
            count.operations += std::max(cost, 1.0);
            return;
        }
        // A function of the user's that is not among the nodes, since it leaves nothing but a
        // value.
        const bool isInNest = std::ranges::any_of(nest_.frames, [&](const NestFrame& called) {
            return called.caller == frame && called.call == id;
        });
        if (isInNest)
            return;
        if (const KernelModel* callee = deviceFunction(expr))
            count += ofFunction(*callee);
    }

    /// Returns the work of one call, with that of the functions it calls. A function that calls
    /// itself counts once.
    [[nodiscard]] const Count& ofFunction(const KernelModel& function) const {
        const auto [entry, isNew] = functions_.try_emplace(&function);
        Count& count = entry->second;
        if (!isNew)
            return count;
        const FunctionBody& body = function.body;
        const Repetitions repetitions(function);
        Count total;
        for (const Expr& inner : body.exprs) {
            Count one;
            if (inner.kind == ExprKind::Binary && isFloating(inner.type))
                ofOperator(body, inner, false, one);
            else if (const KernelModel* callee =
                         inner.kind == ExprKind::Call ? deviceFunction(inner) : nullptr)
                one = ofFunction(*callee);
            if (one.operations > 0)
                total += one * repetitions.at(inner.span);
        }
        for (const MathCall& call : function.mathCalls) {
            Count one;
            one.operations = costOfFunction(body.expr(call.call).name) +
                             (call.isSpecialFunction ? specialFunctionUnit : 0);
            one.ofFunctions = call.isSpecialFunction ? one.operations : 0;
            total += one * repetitions.at(body.expr(call.call).span);
        }
        return count = total;
    }

    [[nodiscard]] const KernelModel* deviceFunction(const Expr& call) const {
        const auto& functions = warp_.file().deviceFunctions;
        const auto found = std::ranges::find_if(functions, [&](const KernelModel& candidate) {
            return candidate.name == call.name || candidate.qualifiedName == call.name;
        });
        return found == functions.end() ? nullptr : &*found;
    }

    const WarpView& warp_;
    const Nest& nest_;
    mutable std::vector<std::optional<double>>
        rounds_; ///< Of loops, as far as they were asked for.
    /// Holds the work of each device function that was called. A function that is being counted
    /// has 0 meanwhile, so that recursion ends.
    mutable std::map<const KernelModel*, Count> functions_;
};

} // namespace

StaticWork staticWork(const WarpView& warp, const std::set<AccessInLoop>& overlapping) {
    const Nest& nest = warp.nest();
    const Counter counter(warp);
    StaticWork work;
    std::vector<double> rounds(nest.nodes.size(), 1);
    for (NestNodeId id = 0; id < nest.nodes.size(); ++id) {
        const NestNode& node = nest.node(id);
        rounds[id] = node.parent == noId ? 1 : rounds[node.parent];
        if (node.loop() != nullptr)
            rounds[id] *= counter.roundsOf(id);
        Count count = counter.ofStatement(id);
        count += counter.ofFollowedRound(id);
        work.operations += count.operations * rounds[id];
        work.functionOperations += count.ofFunctions * rounds[id];
    }
    std::vector<NestAccessId> counted;
    for (NestAccessId id = 0; id < nest.accesses.size(); ++id) {
        const NestAccess& access = nest.accesses[id];
        const bool isGlobal =
            access.array == noId || (!nest.arrays[access.array].isVariable &&
                                     (nest.arrays[access.array].space == MemorySpace::Global ||
                                      nest.arrays[access.array].space == MemorySpace::Generic));
        if (!isGlobal || access.node == noId)
            continue;
        const WarpReach& reach = warp.reach(id);
        // A lane's part of the sectors; of those that nobody knows, a sector each.
        double bytes = reach.isKnown()  ? reach.sectors * sectorBytes / warpLanes
                       : reach.isRagged ? reach.width
                                        : static_cast<double>(sectorBytes);
        if (access.kind == AccessKind::ReadWrite || access.kind == AccessKind::Atomic)
            bytes *= 2;
        // Comparing all accesses of an array with all others has a bound.
        constexpr std::size_t maxCompared = 32;
        std::size_t compared = 0;
        const bool isShared = std::ranges::any_of(counted, [&](NestAccessId other) {
            if (nest.accesses[other].array != access.array ||
                nest.accesses[other].kind != access.kind || ++compared > maxCompared)
                return false;
            const auto distance = warp.distance(other, id);
            return distance && isWithinReachOfNeighbours(*distance, reach.width);
        });
        if (isShared && reach.isCoalesced())
            continue;
        counted.push_back(id);
        // Data that each round loads again stays on the chip, and so does what every thread loads.
        const bool isOfAll =
            access.index && reach.isKnown() && !mentionsThread(nest, *access.index);
        double times = isOfAll ? 1 : rounds[access.node];
        for (NestNodeId node = access.node; node != noId && !isOfAll;
             node = nest.node(node).parent) {
            const bool isLoop = nest.node(node).loop() != nullptr;
            const auto step = isLoop ? warp.step(id, node) : std::nullopt;
            if (isLoop && (overlapping.contains({id, node}) || (step && *step == 0)))
                times /= counter.roundsOf(node);
        }
        work.bytes += bytes * times;
    }
    return work;
}

double operationsBelow(const WarpView& warp, NestNodeId top) {
    const Nest& nest = warp.nest();
    const Counter counter(warp);
    std::vector<double> rounds(nest.nodes.size(), 0);
    rounds[top] = 1;
    double operations = 0;
    for (NestNodeId id = top; id < nest.nodes.size(); ++id) {
        const NestNode& node = nest.node(id);
        if (id != top)
            rounds[id] = node.parent == noId ? 0 : rounds[node.parent];
        if (rounds[id] <= 0)
            continue;
        if (node.loop() != nullptr)
            rounds[id] *= counter.roundsOf(id);
        operations +=
            (counter.ofStatement(id).operations + counter.ofFollowedRound(id).operations) *
            rounds[id];
    }
    return operations;
}

} // namespace kernelskill::engine
