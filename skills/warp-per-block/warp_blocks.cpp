#include "skills/warp-per-block/warp_blocks.h"

#include "analysis/queries/launch_values.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"
#include "skills/gates/block_collective.h"
#include "skills/gates/launch_sites.h"
#include "skills/gates/power_stride.h"
#include "skills/gates/thread_position.h"
#include "skills/gates/warp_barriers.h"
#include "skills/schedule/part_returns.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// With more, a lane's values no longer fit in its registers.
constexpr std::int64_t mostWarps = 16;
/// A lane has the loads of several threads under way, so that fewer warps hide their latency.
constexpr double enoughOccupied = 0.25;
/// A loop that counts more rounds is left to the compiler; one that halves or doubles has at
/// most 9.
constexpr std::int64_t mostUnrolledRounds = 16;

class WarpPlanner {
public:
    explicit WarpPlanner(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()) {}

    Gated<WarpBlocks> plan() {
        KERNELSKILL_CHECK(findBlock());
        KERNELSKILL_TRY(found_.merged, mergedBlocks(context_));
        KERNELSKILL_CHECK(requireNoGroups());
        KERNELSKILL_TRY(found_.barriers, warpBarriers(context_));
        KERNELSKILL_TRY(found_.threads, editableThreadPositions(context_));
        const StatementRoles roles(context_, warpsOfBlock(context_));
        KERNELSKILL_CHECK(requireCommonBarriers(roles));
        KERNELSKILL_TRY(found_.returns, lastReturns(context_, roles));
        KERNELSKILL_TRY(found_.work, partedWork(context_, roles));
        KERNELSKILL_CHECK(blocksToMerge(
            context_, found_.merged,
            {.most = found_.warps, .least = found_.warps, .occupied = enoughOccupied}));
        findFixedLoops(roles);
        return std::move(found_);
    }

private:
    Gated<void> findBlock() {
        KERNELSKILL_TRY(const auto blocks, launchedBlocks(context_));
        if (std::ranges::any_of(blocks,
                                [&](const Extents& block) { return block != blocks.front(); }))
            return refuse(
                "several-blocks",
                fmt::format("launches of {} have blocks of different sizes", kernel_.name));
        found_.block = blocks.front();
        const std::int64_t threads = found_.block[0] * found_.block[1] * found_.block[2];
        if (threads <= 0 || threads % warpLanes != 0)
            return refuse(
                "partial-warps",
                fmt::format("a block of {} threads has a warp that is not full", threads));
        const std::int64_t warps = threads / warpLanes;
        if (warps == 1)
            return refuse("one-warp", fmt::format("a block of {} is one warp", kernel_.name));
        if (warps > mostWarps || (warps & (warps - 1)) != 0)
            return refuse("many-warps",
                          fmt::format("{} warps a block: one in their place takes 2, 4, 8 or {}",
                                      warps, mostWarps));
        found_.warps = static_cast<int>(warps);
        return {};
    }

    /// Groups, and collectives of libraries, know how many threads a block has, and meet.
    Gated<void> requireNoGroups() const {
        constexpr std::array<std::string_view, 3> libraries{"cooperative_groups", "cub", "cuda"};
        const auto namesLibrary = [&](std::string_view type) {
            return std::ranges::any_of(libraries, [&](std::string_view library) {
                return type.contains(fmt::format("{}::", library));
            });
        };
        const auto refuseAt = [&](Span place) {
            return refuse("thread-groups",
                          fmt::format("threads work together on line {} in a way that is not known",
                                      lineNumber(context_, place.begin)));
        };
        for (const Variable& variable : body_.variables)
            if (namesLibrary(variable.type.canonical))
                return refuseAt(variable.span);
        for (const Expr& expr : body_.exprs)
            if (namesLibrary(expr.type.canonical))
                return refuseAt(expr.span);
        for (const Token& token : lex(context_.file.source->text(), kernel_.bodySpan))
            if (std::ranges::find(libraries, token.text) != libraries.end())
                return refuseAt(token.span);
        return {};
    }

    [[nodiscard]] Gated<void> requireCommonBarriers(const StatementRoles& roles) const {
        for (const ExprId call : found_.barriers)
            if (roles.roleOf(code_.statement(call)) != StatementRole::Barrier)
                return refuse("no-common-barrier",
                              fmt::format("whether threads reach the barrier on line {} depends on "
                                          "the thread",
                                          lineNumber(context_, body_.expr(call).span.begin)));
        return {};
    }

    /// Finds the loops with barriers whose bounds are constants when numbers replace blockDim.
    void findFixedLoops(const StatementRoles& roles) {
        const LaunchValues values(context_.shared(), kernel_.launches.front());
        for (const Loop& loop : kernel_.loops) {
            const Stmt& stmt = body_.stmt(loop.statement);
            if (stmt.kind == StmtKind::For && stmt.increment != noId && stmt.pragma.empty() &&
                roles.roleOf(loop.statement) == StatementRole::Opened && hasFixedBounds(loop) &&
                (readPowerStride(code_, stmt.increment, loop.statement) ||
                 values.rounds(loop).value_or(mostUnrolledRounds + 1) <= mostUnrolledRounds))
                found_.fixedLoops.push_back(loop.statement);
        }
    }

    [[nodiscard]] bool hasFixedBounds(const Loop& loop) const {
        const Stmt& stmt = body_.stmt(loop.statement);
        const auto isCounter = [&](VariableId variable) {
            return variable != noId && stmt.init != noId &&
                   code_.declarationOf(variable) == stmt.init;
        };
        std::vector<ExprId> bounds;
        if (stmt.init != noId)
            bounds = code_.expressionsIn(stmt.init);
        for (const ExprId part : {stmt.condition, stmt.increment})
            if (part != noId)
                std::ranges::copy(code_.expressionsBelow(part), std::back_inserter(bounds));
        return std::ranges::all_of(bounds, [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            switch (expr.kind) {
            case ExprKind::Integer:
            case ExprKind::Cast:
            case ExprKind::Binary:
            case ExprKind::Unary:
                return true;
            case ExprKind::BuiltinIndex:
                return expr.name == "blockDim";
            case ExprKind::Variable:
                return isCounter(expr.variable) || code_.constantValue(id).has_value();
            default:
                return false;
            }
        });
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    WarpBlocks found_;
};

} // namespace

Gated<WarpBlocks> warpBlocks(const SkillContext& context) {
    KERNELSKILL_CHECK(requireEditable(context));
    KERNELSKILL_CHECK(requireBarriers(context));
    return WarpPlanner(context).plan();
}

} // namespace kernelskill::skills
