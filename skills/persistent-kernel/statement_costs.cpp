#include "skills/persistent-kernel/statement_costs.h"

#include "analysis/queries/launch_values.h"
#include "skills/gates/block_collective.h"

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr double globalCost = 4;
constexpr double sharedCost = 1;
constexpr double barrierCost = 10;
constexpr double functionCost = 4;
/// Rounds that are assumed where they are not known: of a loop that begins at the thread's number,
/// whose rounds threads share, and of others.
constexpr double sharedRounds = 2;
constexpr double ownRounds = 64;

} // namespace

double StatementCosts::of(StmtId statement) const {
    const KernelModel& kernel = context_.kernel;
    const CodeMap& code = context_.code();
    const bool isBarrier = isBlockBarrier(kernel, statement);
    double cost = isBarrier ? barrierCost : 0;
    for (const MemoryAccess& access : kernel.accesses) {
        if (!code.holds(statement, access.expression) || access.space == MemorySpace::Local)
            continue;
        const bool isGlobal =
            access.space == MemorySpace::Global || access.space == MemorySpace::Generic;
        cost += (isGlobal ? globalCost : sharedCost) * roundsOf(access.loops);
    }
    for (const Barrier& barrier : kernel.barriers)
        if (!isBarrier && code.holds(statement, barrier.call))
            cost += barrierCost * roundsOf(loopsAround(barrier.call));
    for (const MathCall& call : kernel.mathCalls)
        if (call.isSpecialFunction && code.holds(statement, call.call))
            cost += functionCost * roundsOf(loopsAround(call.call));
    return cost;
}

double StatementCosts::ofSpecialFunctions() const {
    return functionCost * static_cast<double>(std::ranges::count(context_.kernel.mathCalls, true,
                                                                 &MathCall::isSpecialFunction));
}

std::vector<std::uint32_t> StatementCosts::loopsAround(ExprId expr) const {
    const std::vector<Loop>& all = context_.kernel.loops;
    std::vector<std::uint32_t> loops;
    for (std::uint32_t i = 0; i < all.size(); ++i)
        if (context_.code().holds(all[i].body, expr))
            loops.push_back(i);
    return loops;
}

double StatementCosts::roundsOf(const std::vector<std::uint32_t>& loops) const {
    const KernelModel& kernel = context_.kernel;
    double product = 1;
    for (const std::uint32_t number : loops) {
        const Loop& loop = kernel.loops[number];
        const bool isShared = loop.start && loop.start->dependsOn({SymbolKind::ThreadIdx, 0});
        std::optional<std::int64_t> rounds;
        if (!kernel.launches.empty() &&
            kernel.launches.front().host < context_.file.hostFunctions.size())
            rounds = LaunchValues(context_.shared(), kernel.launches.front()).maxRounds(loop);
        product *= rounds     ? static_cast<double>(std::max<std::int64_t>(*rounds, 1))
                   : isShared ? sharedRounds
                              : ownRounds;
    }
    return product;
}

} // namespace kernelskill::skills
