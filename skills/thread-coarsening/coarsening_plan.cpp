#include "skills/thread-coarsening/coarsening_plan.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/editing/grid_size.h"
#include "skills/gates/elementwise_kernel.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr int maxRows = 4;
/// Fewer blocks leave multiprocessors of a data-centre GPU without one, or with an uneven share.
constexpr std::int64_t enoughBlocks = 256;
/// The threads that 132 multiprocessors of 2048 threads hold at once (H100, H200). With fewer left,
/// threads that are missing cost more than loads that are saved: 0.4 to 0.8 times as fast on an
/// H200.
constexpr std::int64_t enoughThreads = 132 * 2048;
/// Expressions of all copies; beyond this registers and the instruction cache pay for it.
constexpr std::size_t maxWork = 512;
constexpr double roundsOfALoop = 16;
/// Loads before over loads after that is worth the larger code.
constexpr double minGain = 1.2;

constexpr Symbol threadY{SymbolKind::ThreadIdx, 1};

class CoarseningPlanner {
public:
    CoarseningPlanner(const SkillContext& context, const CodeMap& code)
        : context_(context), kernel_(context.kernel), code_(code), body_(code.body()) {}

    Gated<CoarseningPlan> plan() {
        KERNELSKILL_CHECK(requireEditable(context_));
        const auto guarded = findGuardedWork(*context_.file.source, code_);
        if (!guarded)
            return refuse(
                "no-bounds-guard",
                fmt::format("{} has no plain bounds check around all its work", kernel_.name));
        plan_.guarded = *guarded;
        KERNELSKILL_CHECK(findRow());
        KERNELSKILL_CHECK(splitGuard(body_.stmt(guarded->guard).condition));
        KERNELSKILL_CHECK(requireIndependentWork(context_, code_, guarded->work));
        if (!kernel_.atomics.empty())
            return refuse("atomic", fmt::format("the atomic on line {} is what rows wait for, and "
                                                "they share nothing there",
                                                lineOf(kernel_.atomics.front().call)));
        KERNELSKILL_CHECK(requireEditableWork());
        findVaryingLocals();
        for (const StmtId id : guarded->work)
            findCommonLoops(id);
        KERNELSKILL_CHECK(chooseRows());
        KERNELSKILL_CHECK(requireSharedLoads());
        return plan_;
    }

private:
    [[nodiscard]] std::uint32_t lineOf(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }

    /// The index along y, by which alone the kernel knows of y.
    Gated<void> findRow() {
        const IndexExpression wanted = IndexExpression::symbol({SymbolKind::BlockIdx, 1}) *
                                           IndexExpression::symbol({SymbolKind::BlockDim, 1}) +
                                       IndexExpression::symbol(threadY);
        for (const StmtId id : body_.stmt(body_.root).children) {
            if (id == plan_.guarded.guard)
                break;
            for (const VariableId variable : body_.stmt(id).declared) {
                const Variable& candidate = body_.variable(variable);
                if (candidate.init != noId && isIndexType(candidate.type) &&
                    !code_.isEverWritten(variable) && !body_.stmt(id).fromMacro &&
                    !body_.expr(candidate.init).fromMacro &&
                    polynomialOf(code_, candidate.init) == wanted)
                    plan_.row = variable;
            }
        }
        if (plan_.row == noId)
            return refuse("no-rows", fmt::format("{} has no index blockIdx.y * blockDim.y + "
                                                 "threadIdx.y",
                                                 kernel_.name));
        const Variable& row = body_.variable(plan_.row);
        const Span own = body_.expr(row.init).span;
        for (const Expr& expr : body_.exprs)
            if (expr.kind == ExprKind::BuiltinIndex && expr.axis != 0 && !own.contains(expr.span))
                return refuse("uses-thread-position",
                              fmt::format("line {} uses {}.{} beside {}",
                                          lineNumber(context_, expr.span.begin), expr.name,
                                          "xyz"[expr.axis % 3], row.name));
        for (const ExprId use : code_.uses(plan_.row)) {
            const bool isInGuard = code_.statement(use) == plan_.guarded.guard;
            const bool isInWork = std::ranges::any_of(
                plan_.guarded.work, [&](StmtId stmt) { return code_.holds(stmt, use); });
            if (body_.expr(use).fromMacro || (!isInGuard && !isInWork))
                return refuse("row-used-elsewhere",
                              fmt::format("{} on line {} is used before the bounds check, or in a "
                                          "macro",
                                          row.name, lineOf(use)));
        }
        return {};
    }

    [[nodiscard]] bool usesRow(ExprId expr) const {
        return std::ranges::any_of(code_.expressionsBelow(expr), [&](ExprId id) {
            return body_.expr(id).kind == ExprKind::Variable &&
                   body_.expr(id).variable == plan_.row;
        });
    }

    /// Into comparisons that all have to hold; those of the row against what all rows share.
    Gated<void> splitGuard(ExprId condition) {
        const Expr& expr = body_.expr(condition);
        const bool returnsEarly = plan_.guarded.returnsEarly;
        if (expr.kind == ExprKind::Binary && expr.op == (returnsEarly ? "||" : "&&")) {
            for (const ExprId child : expr.children)
                KERNELSKILL_CHECK(splitGuard(child));
            return {};
        }
        GuardPart part;
        part.expr = condition;
        const std::string_view opposite = oppositeComparison(body_, expr);
        const auto refusal = [&] {
            return refuse("compound-guard",
                          fmt::format("the condition on line {} is not made of plain bounds",
                                      lineOf(condition)));
        };
        if (returnsEarly && opposite.empty())
            return refusal();
        part.op = returnsEarly ? opposite : std::string_view(expr.op);
        if (usesRow(condition)) {
            const bool isLeft =
                code_.namedVariable(expr.children.empty() ? condition : expr.children[0]) ==
                plan_.row;
            if (opposite.empty() ||
                (!isLeft && code_.namedVariable(expr.children[1]) != plan_.row) ||
                usesRow(expr.children[isLeft ? 1 : 0]))
                return refusal();
            part.isUpperBound = part.op.starts_with(isLeft ? '<' : '>');
        } else if (!returnsEarly) {
            part.op = "";
        }
        plan_.guard.push_back(part);
        return {};
    }

    Gated<void> requireEditableWork() const {
        for (const StmtId top : plan_.guarded.work)
            for (const StmtId id : code_.statementsIn(top))
                if (body_.stmt(id).fromMacro)
                    return refuse("from-macro",
                                  fmt::format("line {} comes out of a macro",
                                              lineNumber(context_, body_.stmt(id).span.begin)));
        return {};
    }

    [[nodiscard]] bool varies(ExprId expr) const {
        return std::ranges::any_of(code_.expressionsBelow(expr), [&](ExprId id) {
            const VariableId variable = body_.expr(id).variable;
            return body_.expr(id).kind == ExprKind::Variable &&
                   (variable == plan_.row || plan_.varying.contains(variable));
        });
    }

    /// Locals that change, or hold what depends on the row. Variables of loop heads count when the
    /// loop is found not to be common.
    void findVaryingLocals() {
        std::vector<VariableId> locals;
        for (const StmtId top : plan_.guarded.work)
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

    /// As many rows as leave enough blocks, where the launches tell how many there are.
    Gated<void> chooseRows() {
        KERNELSKILL_CHECK(requireResizableGrids(context_));
        plan_.rows = maxRows;
        for (const LaunchSite& launch : kernel_.launches) {
            const std::uint32_t line = lineNumber(context_, launch.span.begin);
            if (!dividedGridY(context_, launch, maxRows))
                return refuse("launch-grid",
                              fmt::format("the launch on line {} names no blocks along y", line));
            const auto grid = constantExtents(context_.shared().host(launch.host), launch.grid);
            if (!grid)
                continue;
            const auto blocksOf = [&](int rows) {
                return (*grid)[0] * (*grid)[2] * (((*grid)[1] + rows - 1) / rows);
            };
            const auto block = constantExtents(context_.shared().host(launch.host), launch.block);
            const std::int64_t threads = block ? (*block)[0] * (*block)[1] * (*block)[2] : 0;
            const auto isEnough = [&](int rows) {
                return block ? blocksOf(rows) * threads >= enoughThreads
                             : blocksOf(rows) >= enoughBlocks;
            };
            while (plan_.rows > 1 && !isEnough(plan_.rows))
                plan_.rows /= 2;
            if (plan_.rows < 2)
                return refuse(
                    "too-few-blocks",
                    fmt::format("the {} x {} blocks{} of the launch on line {} are too few "
                                "to be halved",
                                (*grid)[0], (*grid)[1],
                                block ? fmt::format(" of {} threads", threads) : "", line));
        }
        std::size_t size = 0;
        for (const StmtId id : plan_.guarded.work)
            size += code_.expressionsIn(id).size();
        if (size * static_cast<std::size_t>(plan_.rows) > maxWork)
            return refuse("work-too-large",
                          fmt::format("{} rows of the work would be too much code", plan_.rows));
        return {};
    }

    /// Whether all loops around an access are common ones.
    [[nodiscard]] bool isJammed(const MemoryAccess& access) const {
        return std::ranges::all_of(access.loops, [&](std::uint32_t loop) {
            return plan_.commonLoops.contains(kernel_.loops[loop].statement);
        });
    }

    /// A store that may stand between the loads of two rows, and that may change what they load.
    [[nodiscard]] bool isCutOff(const MemoryAccess& load) const {
        const auto isRestrict = [&](VariableId base) {
            return base != noId && body_.variable(base).type.isRestrict;
        };
        return std::ranges::any_of(kernel_.accesses, [&](const MemoryAccess& store) {
            return store.kind != AccessKind::Read && store.space != MemorySpace::Local &&
                   store.loops == load.loops &&
                   (store.base == load.base || !isRestrict(store.base) || !isRestrict(load.base));
        });
    }

    /// Counts the loads of all rows, those of one address once where the copies stand together.
    Gated<void> requireSharedLoads() {
        std::map<std::pair<VariableId, std::vector<std::uint32_t>>, std::vector<IndexExpression>>
            seen;
        bool wasCutOff = false;
        for (const MemoryAccess& load : kernel_.accesses) {
            if (load.kind != AccessKind::Read ||
                (load.space != MemorySpace::Global && load.space != MemorySpace::Generic))
                continue;
            const double weight = std::pow(roundsOfALoop, static_cast<double>(load.loops.size()));
            const auto step = load.index ? load.index->coefficientOf(threadY) : std::nullopt;
            const bool canShare =
                step && !load.index->hasOpaque() && isJammed(load) && load.conditions.size() <= 1;
            wasCutOff = wasCutOff || (canShare && isCutOff(load));
            std::vector<IndexExpression>& known = seen[{load.base, load.loops}];
            for (int row = 0; row < plan_.rows; ++row) {
                plan_.loadsBefore += weight;
                if (!canShare || isCutOff(load)) {
                    plan_.loadsAfter += weight;
                    continue;
                }
                const IndexExpression index = *load.index + *step * IndexExpression::constant(row);
                if (std::ranges::find(known, index) == known.end()) {
                    known.push_back(index);
                    plan_.loadsAfter += weight;
                }
            }
        }
        // Loads of one row at one address count as one before, too.
        if (plan_.loadsAfter > 0 && plan_.loadsBefore >= minGain * plan_.loadsAfter)
            return {};
        return refuse("rows-share-nothing",
                      wasCutOff
                          ? fmt::format("a store stands between the loads of two rows, and may "
                                        "change them unless all pointers are __restrict__")
                          : fmt::format("neighbouring rows of {} load hardly anything in common",
                                        kernel_.name));
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    CoarseningPlan plan_;
};

} // namespace

Gated<CoarseningPlan> planCoarsening(const SkillContext& context, const CodeMap& code) {
    return CoarseningPlanner(context, code).plan();
}

} // namespace kernelskill::skills
