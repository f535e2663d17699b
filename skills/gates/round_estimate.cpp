#include "skills/gates/round_estimate.h"

#include <algorithm>
#include <cstdint>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Cycles until global memory answers (CUDA C++ Best Practices Guide: 400 to 800).
constexpr double memoryLatency = 600;
constexpr double assumedRounds = 16; ///< The rounds of an inner loop whose count is not known.
constexpr double assumedWarps = 8;   ///< The warps of a block whose size is not known.
/// A multiprocessor starts instructions of so many warps a cycle.
constexpr double warpsACycle = 4;
/// An instruction of one warp waits so many cycles for the one before.
constexpr double dependentCycles = 4;

/// Reads and writes of memory, and arithmetic that is not about where they go. A product that goes
/// into a sum is part of it.
double operationsAt(const KernelModel& function, const CodeMap& code, ExprId id) {
    const Expr& expr = code.body().expr(id);
    const auto access = std::ranges::find(function.accesses, id, &MemoryAccess::expression);
    if (access != function.accesses.end())
        return access->space == MemorySpace::Local ? 0 : 1;
    if (expr.kind != ExprKind::Binary || expr.op == "=")
        return 0;
    for (ExprId below = id, at = code.parent(id); at != noId; below = at, at = code.parent(at))
        if (code.body().expr(at).kind == ExprKind::Subscript &&
            code.body().expr(at).children[0] != below)
            return 0;
    const ExprId parent = code.parent(id);
    const bool isSummed = expr.op == "*" && parent != noId &&
                          (code.body().expr(parent).op.starts_with('+') ||
                           code.body().expr(parent).op.starts_with('-'));
    return isSummed ? 0 : 1;
}

double operationsOfCall(const SkillContext& context, const Expr& call) {
    const auto callee =
        std::ranges::find(context.file.deviceFunctions, call.name, &KernelModel::name);
    if (callee == context.file.deviceFunctions.end() || callee->body.root == noId)
        return 1;
    const CodeMap code(callee->body);
    double count = 0;
    for (const ExprId id : code.expressionsIn(callee->body.root))
        count += operationsAt(*callee, code, id);
    return count;
}

/// Operations that a thread makes on a tile, each as often as the loops around it run.
double operationsOf(const SkillContext& context, const CodeMap& code, const StagedLoop& staged) {
    double count = 0;
    for (const StmtId use : staged.use) {
        for (const ExprId id : code.expressionsIn(use)) {
            const Expr& expr = code.body().expr(id);
            const double once = expr.kind == ExprKind::Call
                                    ? operationsOfCall(context, expr)
                                    : operationsAt(context.kernel, code, id);
            if (once == 0)
                continue;
            double times = 1;
            for (const Loop& inner : context.kernel.loops)
                if (code.holds(inner.body, id) && code.encloses(use, inner.statement))
                    times *=
                        inner.tripCount ? static_cast<double>(*inner.tripCount) : assumedRounds;
            count += once * times;
        }
    }
    return count;
}

double warpsOf(const SkillContext& context) {
    if (context.compiled != nullptr && context.compiled->blockThreads > 0)
        return static_cast<double>(context.compiled->blockThreads) / 32;
    double most = 0;
    for (const LaunchSite& launch : context.kernel.launches) {
        if (launch.constantBlock.empty() || std::ranges::count(launch.constantBlock, 0) > 0)
            continue;
        double threads = 1;
        for (const std::int64_t extent : launch.constantBlock)
            threads *= static_cast<double>(extent);
        most = std::max(most, threads / 32);
    }
    return most > 0 ? most : assumedWarps;
}

} // namespace

double RoundEstimate::waiting() const {
    return memoryLatency;
}

double RoundEstimate::computing() const {
    return std::max(operations * dependentCycles, issuing());
}

double RoundEstimate::issuing() const {
    return operations * warps / warpsACycle;
}

RoundEstimate estimateRound(const SkillContext& context, const CodeMap& code,
                            const StagedLoop& staged) {
    return {operationsOf(context, code, staged), warpsOf(context)};
}

} // namespace kernelskill::skills
