#include "skills/thread-coarsening/coarsening_plan.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/launch_values.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/enough_threads.h"
#include "skills/gates/launch_sites.h"
#include "skills/schedule/threads_apart.h"
#include "skills/thread-coarsening/initial_values.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr int maxRows = 4;
/// Lanes differ along x, so that rows along another axis leave accesses coalesced.
constexpr std::uint8_t laneAxis = 0;
/// In this order.
constexpr std::array<std::uint8_t, 3> axes{1, 2, laneAxis};
/// The max number of expressions in all copies: more cost registers and instruction cache.
constexpr std::size_t maxWork = 512;
/// The min quotient of loads before and after.
constexpr double minGain = 1.1;

class CoarseningPlanner {
public:
    CoarseningPlanner(const SkillContext& context, FunctionBody body, RowWork work, InnerWork inner)
        : context_(context), kernel_(context.kernel),
          plan_{{}, {}, {}, std::move(body), std::move(work), std::move(inner), {}, {}, {}},
          body_(plan_.inner.body), code_(body_) {}

    Gated<CoarseningPlan> plan() {
        if (!kernel_.atomics.empty())
            return refuse("atomic", fmt::format("the atomic on line {} is what rows wait for, and "
                                                "they share nothing there",
                                                lineOf(kernel_.atomics.front().call)));
        for (const StmtId id : plan_.work.work)
            addStatements(id);
        findVaryingLocals();
        for (const StmtId id : plan_.statements)
            findCommonLoops(id);
        if (plan_.work.axis == laneAxis)
            KERNELSKILL_CHECK(requireLoadsOfAllLanes());
        KERNELSKILL_TRY(const int max, maxRowsOfLaunches());
        for (int rows = max; rows > 1; rows /= 2)
            KERNELSKILL_CHECK(addCount(rows));
        if (!plan_.counts.empty()) {
            plan_.apart.reset();
            return std::move(plan_);
        }
        if (!plan_.apart)
            return std::unexpected(std::move(*refusal_));
        plan_.refusal = std::move(refusal_);
        return std::move(plan_);
    }

private:
    [[nodiscard]] std::uint32_t lineOf(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }

    /// Adds the statement, or those of the branch that rows away from the edges take.
    void addStatements(StmtId id) {
        const auto branch = plan_.inner.branches.find(id);
        if (branch == plan_.inner.branches.end()) {
            plan_.statements.push_back(id);
            return;
        }
        if (branch->second == noId)
            return;
        const std::vector<StmtId> inner = code_.statementsOf(branch->second);
        if (std::ranges::any_of(inner, [&](StmtId stmt) { return declaresTwice(stmt); })) {
            plan_.statements.push_back(id);
            return;
        }
        for (const StmtId stmt : inner)
            addStatements(stmt);
    }

    /// A name that is also another variable's.
    [[nodiscard]] bool declaresTwice(StmtId stmt) const {
        return std::ranges::any_of(body_.stmt(stmt).declared, [&](VariableId local) {
            return std::ranges::count(body_.variables, body_.variable(local).name,
                                      &Variable::name) > 1;
        });
    }

    [[nodiscard]] bool varies(ExprId expr) const {
        return std::ranges::any_of(code_.expressionsBelow(expr), [&](ExprId id) {
            const VariableId variable = body_.expr(id).variable;
            return body_.expr(id).kind == ExprKind::Variable &&
                   (variable == plan_.work.row || plan_.varying.contains(variable));
        });
    }

    /// Locals that change, or hold what depends on the row. Variables of loop heads count when the
    /// loop is found not to be common.
    void findVaryingLocals() {
        std::vector<VariableId> locals;
        for (const StmtId top : plan_.work.work)
            for (const StmtId id : code_.statementsIn(top))
                for (const VariableId variable : body_.stmt(id).declared)
                    if (!isLoopHead(id))
                        locals.push_back(variable);
        for (bool isNew = true; isNew;) {
            isNew = false;
            for (const VariableId local : locals) {
                const Variable& variable = body_.variable(local);
                const bool does = code_.isEverWritten(local) || variable.init == noId ||
                                  variable.type.pointerDepth > 0 || varies(variable.init);
                if (does)
                    isNew = plan_.varying.insert(local).second || isNew;
            }
        }
    }

    [[nodiscard]] bool isLoopHead(StmtId id) const {
        const StmtId parent = body_.stmt(id).parent;
        return parent != noId && body_.stmt(parent).init == id;
    }

    void findCommonLoops(StmtId id) {
        const Stmt& stmt = body_.stmt(id);
        const auto loop = std::ranges::find(kernel_.loops, id, &Loop::statement);
        if (loop == kernel_.loops.end() || stmt.kind != StmtKind::For || stmt.init == noId ||
            stmt.condition == noId || stmt.increment == noId || loop->hasEarlyExit ||
            loop->inductionVariable == noId ||
            !isWrittenAs(*context_.file.source, stmt.span, {"for"}) ||
            code_.declarationOf(loop->inductionVariable) != stmt.init ||
            body_.stmt(stmt.init).declared.size() != 1 || varies(stmt.condition) ||
            varies(stmt.increment) || varies(body_.variable(loop->inductionVariable).init))
            return;
        for (const ExprId use : code_.uses(loop->inductionVariable))
            if (code_.isWrite(use) && code_.holds(loop->body, use))
                return;
        for (const StmtId inner : code_.statementsIn(loop->body))
            if (body_.stmt(inner).kind == StmtKind::Continue)
                return;
        plan_.commonLoops.insert(id);
        for (const StmtId inner : code_.statementsOf(loop->body))
            findCommonLoops(inner);
    }

    /// Rows along x move lanes apart. Requires loops in which all lanes access the same elements of
    /// global memory.
    [[nodiscard]] Gated<void> requireLoadsOfAllLanes() const {
        if (plan_.commonLoops.empty())
            return refuse("moves-lanes-apart",
                          fmt::format("{} has no loop whose loads all lanes share", kernel_.name));
        const Symbol thread{SymbolKind::ThreadIdx, laneAxis};
        for (const MemoryAccess& access : kernel_.accesses) {
            const bool isOfLanes =
                access.space == MemorySpace::Global || access.space == MemorySpace::Generic;
            const bool isInLoop = std::ranges::any_of(plan_.commonLoops, [&](StmtId loop) {
                return code_.holds(loop, access.expression);
            });
            if (isOfLanes && isInLoop && (!access.index || access.index->dependsOn(thread)))
                return refuse("moves-lanes-apart",
                              fmt::format("lanes would be further apart on line {}",
                                          lineOf(access.expression)));
        }
        return {};
    }

    /// As many rows as leave enough blocks, where the launches tell how many there are.
    Gated<int> maxRowsOfLaunches() {
        KERNELSKILL_CHECK(requireResizableGrids(context_));
        for (const LaunchSite& launch : kernel_.launches) {
            const auto rows = LaunchValues(context_.shared(), launch).grid()[plan_.work.axis];
            if (!plan_.work.isBoundedAbove() && (!rows || *rows % maxRows != 0))
                return refuse("no-bounds-guard",
                              fmt::format("nothing bounds {} from above, and the launch on line {} "
                                          "does not have a known multiple of {} blocks along {}",
                                          body_.variable(plan_.work.row).name,
                                          lineNumber(context_, launch.span.begin), maxRows,
                                          "xyz"[plan_.work.axis]));
        }
        return pointsOfAThread(context_, plan_.work.axis, maxRows);
    }

    /// Expressions of all copies, with the arithmetic of an index as one.
    [[nodiscard]] std::size_t workOf(int rows) const {
        std::size_t once = 0;
        std::size_t each = 0;
        std::set<ExprId> indices;
        for (const StmtId id : plan_.statements) {
            for (const ExprId expr : code_.expressionsIn(id)) {
                const Expr& at = body_.expr(expr);
                ++each;
                if (at.kind != ExprKind::Subscript || indices.contains(expr))
                    continue;
                for (const ExprId inner : code_.expressionsBelow(expr))
                    if (indices.insert(inner).second)
                        ++once;
            }
        }
        return once + (each - once) * static_cast<std::size_t>(rows);
    }

    /// Adds the number of rows if it pays.
    Gated<void> addCount(int rows) {
        if (workOf(rows) > maxWork) {
            refusal_ = Refusal{"work-too-large",
                               fmt::format("{} rows of the work would be too much code", rows)};
            return {};
        }
        KERNELSKILL_TRY(SharedLoads loads, sharedLoads(context_,
                                                       {code_, plan_.work.step, plan_.statements,
                                                        plan_.varying, plan_.commonLoops},
                                                       rows));
        if (loads.after > 0 && loads.before >= minGain * loads.after) {
            plan_.counts.push_back({rows, std::move(loads)});
            return {};
        }
        refusal_ = Refusal{
            "rows-share-nothing",
            loads.wasCutOff
                ? fmt::format("a store stands between the loads of two rows, and may change them "
                              "unless all pointers are __restrict__")
                : fmt::format("neighbouring rows of {} load hardly anything in common",
                              kernel_.name)};
        if (!plan_.apart && plan_.work.axis != laneAxis)
            plan_.apart = RowCount{rows, std::move(loads)};
        return {};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    CoarseningPlan plan_;
    const FunctionBody& body_;
    CodeMap code_;
    std::optional<Refusal> refusal_;
};

Gated<CoarseningPlan> planAlong(const SkillContext& context, std::uint8_t axis) {
    const FunctionBody body = withInitialRows(context.code(), axis);
    const CodeMap code(body);
    KERNELSKILL_TRY(RowWork work, findRowWork(context, code, axis));
    InnerWork inner = innerWork(context, code, work);
    auto plan = CoarseningPlanner(context, body, std::move(work), std::move(inner)).plan();
    if (plan)
        KERNELSKILL_CHECK(requireThreadsApart(context)); // Also in the functions that it calls.
    return plan;
}

} // namespace

Gated<CoarseningPlan> planCoarsening(const SkillContext& context) {
    KERNELSKILL_CHECK(requireEditable(context));
    std::optional<Refusal> refusal;
    std::optional<CoarseningPlan> apart;
    for (const std::uint8_t axis : axes) {
        auto plan = planAlong(context, axis);
        if (plan && !plan->counts.empty())
            return plan;
        if (plan && !apart)
            apart = *std::move(plan);
        else if (!plan && (!refusal || refusal->gate == "no-rows"))
            refusal = std::move(plan.error());
    }
    if (apart)
        return *std::move(apart);
    return std::unexpected(*std::move(refusal));
}

} // namespace kernelskill::skills
