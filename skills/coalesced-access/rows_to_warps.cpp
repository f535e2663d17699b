#include "analysis/queries/code_map.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/coalesced-access/coalescing_rewrite.h"
#include "skills/editing/grid_size.h"
#include "skills/gates/aliasing.h"
#include "skills/gates/elementwise_kernel.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// `for (int c = lower; c < upper; ++c)` at the top of the work on a row.
struct RowLoop {
    std::uint32_t loop = noId; ///< Index into KernelModel::loops.
    VariableId column = noId;
};

class RowsToWarps {
public:
    explicit RowsToWarps(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()) {}

    FoundRewrite find() {
        auto rows = recogniseElementwise(context_, code_);
        if (!rows)
            return refuse("other-shape", rows.error().reason);
        rows_ = *rows;
        const bool hasLoop = std::ranges::any_of(kernel_.loops, [&](const Loop& loop) {
            return std::ranges::find(rows_.work, loop.statement) != rows_.work.end();
        });
        if (!hasLoop)
            return refuse("other-shape", "no loop walks along a row");
        KERNELSKILL_CHECK(findRowLoops());
        CoalescingRewrite rewrite;
        rewrite.before = warpTraffic(context_, lanesOfBlock({analysis::warpLanes, 1, 1}));
        rewrite.after = warpTraffic(context_, lanesAlongRows());
        if (rewrite.after.sectors >= rewrite.before.sectors)
            return refuse("other-shape", "lanes along rows would touch no fewer sectors");
        for (const Atomic& atomic : kernel_.atomics)
            return refuse("atomic", fmt::format("the atomic on line {} may return what depends on "
                                                "the order of the columns",
                                                lineOf(atomic.call)));
        for (const RowLoop& row : loops_)
            KERNELSKILL_CHECK(requireIndependentColumns(row));
        KERNELSKILL_CHECK(requireDistinctWrites(context_));
        KERNELSKILL_CHECK(requireWholeWarps());
        rewrite.anchor = body_.stmt(kernel_.loops[loops_.front().loop].statement).span;
        rewrite.title = fmt::format("Give each row of {} to a warp", kernel_.name);
        rewrite.why = fmt::format(
            "the thread of a row walks along it (line {}), so that neighbouring lanes are a row "
            "apart: a warp touches {:.1f} sectors a request, and {:.1f} if its lanes walk "
            "side by side",
            lineNumber(context_, rewrite.anchor.begin),
            rewrite.before.sectors / rewrite.before.requests,
            rewrite.after.sectors / rewrite.after.requests);
        rewrite.edits = edits();
        return rewrite;
    }

private:
    [[nodiscard]] std::uint32_t lineOf(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }

    /// The work on a row: values that only read, then loops along the row.
    Gated<void> findRowLoops() {
        for (const StmtId id : rows_.work) {
            const Stmt& stmt = body_.stmt(id);
            if (stmt.kind == StmtKind::Null)
                continue;
            if (stmt.kind == StmtKind::Declaration) {
                KERNELSKILL_CHECK(requireConstants(stmt));
                continue;
            }
            const auto loop = std::ranges::find(kernel_.loops, id, &Loop::statement);
            if (loop == kernel_.loops.end() || loop->inductionVariable == noId)
                return refuse("row-reduction", fmt::format("line {} works on a row as a whole",
                                                           lineNumber(context_, stmt.span.begin)));
            if (loop->step != 1 || loop->comparison != "<" || loop->hasEarlyExit ||
                stmt.fromMacro || !isWrittenAs(*context_.file.source, stmt.span, {"for"}) ||
                body_.expr(stmt.increment).fromMacro || body_.expr(loop->lowerBound).fromMacro ||
                !isUniformInRow(loop->upperBound) || !isUniformInRow(loop->lowerBound) ||
                code_.declarationOf(loop->inductionVariable) != stmt.init ||
                body_.stmt(stmt.init).declared.size() != 1)
                return refuse("other-shape", "a loop along the row does not count its columns");
            const auto columns = code_.constantValue(loop->upperBound);
            if (columns && *columns < analysis::warpLanes)
                return refuse("short-rows",
                              fmt::format("a row of {} columns (line {}) leaves lanes of a warp "
                                          "without work",
                                          *columns, lineNumber(context_, stmt.span.begin)));
            loops_.push_back({static_cast<std::uint32_t>(loop - kernel_.loops.begin()),
                              loop->inductionVariable});
        }
        return {};
    }

    /// Each lane of the warp works them out for itself.
    Gated<void> requireConstants(const Stmt& declaration) const {
        for (const VariableId variable : declaration.declared) {
            const bool isArray = !body_.variable(variable).type.arrayExtents.empty();
            if (isArray || code_.isEverWritten(variable))
                return refuse("row-reduction",
                              fmt::format("{} (line {}) changes along the row: what a row sums up "
                                          "or looks for needs a reduction by several threads",
                                          body_.variable(variable).name,
                                          lineNumber(context_, declaration.span.begin)));
        }
        return {};
    }

    /// Nothing in the bound changes along the row: rounds of one loop see the same limit.
    [[nodiscard]] bool isUniformInRow(ExprId bound) const {
        return std::ranges::all_of(code_.expressionsBelow(bound), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            if (expr.kind == ExprKind::Variable)
                return expr.variable != noId && !code_.isEverWritten(expr.variable);
            return expr.kind != ExprKind::Call && expr.kind != ExprKind::Other &&
                   expr.kind != ExprKind::BuiltinIndex &&
                   !(expr.kind == ExprKind::Binary && isAssignment(expr.op)) &&
                   !(expr.kind == ExprKind::Subscript && isWrittenMemory(id));
        });
    }

    [[nodiscard]] bool isWrittenMemory(ExprId subscript) const {
        const auto access =
            std::ranges::find(kernel_.accesses, subscript, &MemoryAccess::expression);
        return access == kernel_.accesses.end() || access->base == noId ||
               std::ranges::any_of(kernel_.accesses, [&](const MemoryAccess& other) {
                   return other.base == access->base && other.kind != AccessKind::Read;
               });
    }

    /// Threads of one row become lanes: the rounds of its loop must not see each other.
    Gated<void> requireIndependentColumns(const RowLoop& row) const {
        const Loop& loop = kernel_.loops[row.loop];
        for (ExprId id = 0; id < body_.exprs.size(); ++id) {
            const Expr& expr = body_.expr(id);
            if (expr.kind != ExprKind::Variable || expr.variable == noId ||
                !code_.holds(loop.body, id) || !code_.isWrite(id))
                continue;
            const StmtId declaration = code_.declarationOf(expr.variable);
            if (declaration == noId || !code_.encloses(loop.body, declaration))
                return refuse("carries-over",
                              fmt::format("line {} changes {}, which the next column sees",
                                          lineOf(id), body_.variable(expr.variable).name));
        }
        const Symbol column{SymbolKind::LoopVariable, row.column};
        for (const MemoryAccess& write : kernel_.accesses) {
            if (write.kind == AccessKind::Read || write.space == MemorySpace::Local ||
                !code_.holds(loop.body, write.expression))
                continue;
            const auto step = write.index ? write.index->coefficientOf(column) : std::nullopt;
            const auto apart = step ? step->asConstant() : std::nullopt;
            if (!apart || *apart == 0)
                return refuse("columns-overlap",
                              fmt::format("it is not known that each column has a place of its own "
                                          "in the store on line {}",
                                          lineOf(write.expression)));
            for (const MemoryAccess& other : kernel_.accesses)
                if (other.base == write.base && other.index != write.index)
                    return refuse("columns-overlap",
                                  fmt::format("lines {} and {} may touch one element from two "
                                              "columns",
                                              lineOf(write.expression), lineOf(other.expression)));
        }
        return {};
    }

    /// Blocks of whole warps in a row, each launched with a grid that can grow.
    Gated<void> requireWholeWarps() const {
        KERNELSKILL_CHECK(requireResizableGrids(context_));
        KERNELSKILL_TRY(const auto blocks, launchedBlocks(context_));
        for (const Extents& block : blocks)
            if (block[0] % analysis::warpLanes != 0 || block[1] != 1 || block[2] != 1)
                return refuse("partial-warps",
                              fmt::format("blocks of {} x {} x {} threads are no row of warps",
                                          block[0], block[1], block[2]));
        for (const Expr& expr : body_.exprs)
            if (expr.kind == ExprKind::BuiltinIndex && expr.name == "gridDim")
                return refuse("uses-grid-size",
                              fmt::format("line {} depends on the size of the grid",
                                          lineNumber(context_, expr.span.begin)));
        return {};
    }

    /// All lanes at one row, side by side in each of its loops.
    [[nodiscard]] LaneSymbols lanesAlongRows() const {
        return [this](int lane) {
            std::map<Symbol, std::int64_t> values{{{SymbolKind::ThreadIdx, 0}, 0}};
            for (const RowLoop& row : loops_)
                values[{SymbolKind::LoopVariable, row.column}] = lane;
            return values;
        };
    }

    [[nodiscard]] std::vector<TextEdit> edits() const {
        const SourceText& source = *context_.file.source;
        std::vector<TextEdit> edits;
        edits.push_back({body_.expr(body_.variable(rows_.index).init).span,
                         fmt::format("blockIdx.x * (blockDim.x / {0}) + threadIdx.x / {0}",
                                     analysis::warpLanes)});
        for (const RowLoop& row : loops_) {
            const Loop& loop = kernel_.loops[row.loop];
            const Stmt& stmt = body_.stmt(loop.statement);
            const Span lower = body_.expr(loop.lowerBound).span;
            const std::string lane = fmt::format("threadIdx.x % {}", analysis::warpLanes);
            const std::string from{source.slice(lower)};
            const bool isConditional = body_.expr(loop.lowerBound).kind == ExprKind::Conditional;
            edits.push_back({lower, code_.constantValue(loop.lowerBound) == 0 ? lane
                                    : isConditional ? fmt::format("({}) + {}", from, lane)
                                                    : fmt::format("{} + {}", from, lane)});
            edits.push_back(
                {body_.expr(stmt.increment).span,
                 fmt::format("{} += {}", body_.variable(row.column).name, analysis::warpLanes)});
        }
        for (const LaunchSite& launch : kernel_.launches)
            edits.push_back(multipliedGrid(context_, launch, analysis::warpLanes));
        return edits;
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    ElementwiseKernel rows_;
    std::vector<RowLoop> loops_;
};

} // namespace

FoundRewrite giveRowsToWarps(const SkillContext& context) {
    return RowsToWarps(context).find();
}

} // namespace kernelskill::skills
