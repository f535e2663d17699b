#include "skills/block-coarsening/block_parts.h"

#include "analysis/compile/data_centre_gpu.h"
#include "analysis/compile/occupancy.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/queries/launch_values.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "analysis/syntax/statement_kinds.h"
#include "skills/base/gates.h"
#include "skills/block-coarsening/surplus_parts.h"
#include "skills/editing/block_count.h"
#include "skills/gates/callees.h"
#include "skills/gates/separate_blocks.h"
#include "skills/gates/thread_position.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// With more, registers and shared memory leave too few threads, and code grows.
constexpr int mostParts = 8;

class PartsPlanner {
public:
    explicit PartsPlanner(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()) {}

    Gated<BlockParts> plan() {
        if (kernel_.barriers.empty())
            return refuse("no-barrier",
                          fmt::format("the threads of a block of {} do not meet", kernel_.name));
        KERNELSKILL_CHECK(findAxis());
        KERNELSKILL_CHECK(requireOwnBlocks());
        KERNELSKILL_CHECK(findGrids());
        KERNELSKILL_CHECK(limitBySharedMemory());
        const StatementRoles roles(context_, blocksAlong(context_, found_.axis));
        found_.commonBarriers = roles.commonBarriers();
        if (found_.commonBarriers == 0)
            return refuse(
                "no-common-barrier",
                fmt::format("how often threads of {} meet depends on the block", kernel_.name));
        KERNELSKILL_CHECK(findReturns(roles));
        KERNELSKILL_TRY(found_.work, partedWork(context_, roles));
        found_.guarded = guardedRuns(context_, roles, found_.axis);
        KERNELSKILL_CHECK(limitByLaunches());
        return std::move(found_);
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    Gated<void> findAxis() {
        KERNELSKILL_TRY(const auto positions, editableBlockPositions(context_));
        const auto asks = [&](std::uint8_t axis) {
            return std::ranges::any_of(positions,
                                       [&](ExprId id) { return body_.expr(id).axis == axis; });
        };
        if (positions.empty())
            return refuse("same-blocks", fmt::format("all blocks of {} do the same", kernel_.name));
        if (!asks(0) && !asks(1))
            return refuse("grid-axes",
                          fmt::format("{} tells its blocks apart by z alone", kernel_.name));
        found_.axis = asks(0) ? 0 : 1;
        if (std::ranges::all_of(positions, [&](ExprId id) {
                return body_.expr(id).axis != found_.axis || isPartOfSeveral(id);
            }))
            return refuse("has-parts", fmt::format("a block of {} does the work of several already",
                                                   kernel_.name));
        std::ranges::copy_if(positions, std::back_inserter(found_.blocks),
                             [&](ExprId id) { return body_.expr(id).axis == found_.axis; });
        return {};
    }

    /// `blockIdx.x * 4 + part` in a loop of four rounds over `part`.
    [[nodiscard]] bool isPartOfSeveral(ExprId position) const {
        const ExprId product = code_.parent(position);
        const ExprId sum = product == noId ? noId : code_.parent(product);
        if (sum == noId || body_.expr(product).op != "*" || body_.expr(sum).op != "+")
            return false;
        const auto count = code_.constantValue(body_.expr(product).children[1]);
        const VariableId part = code_.namedVariable(body_.expr(sum).children[1]);
        return count && part != noId && std::ranges::any_of(kernel_.loops, [&](const Loop& loop) {
                   return loop.inductionVariable == part && loop.tripCount == *count;
               });
    }

    Gated<void> requireOwnBlocks() const {
        KERNELSKILL_CHECK(requireSeparateBlocks(context_));
        const auto shares = [](const KernelModel& function) {
            return !function.sharedArrays.empty() || !function.barriers.empty();
        };
        if (const auto name = calleeThat(context_, shares))
            return refuse("callee-shares",
                          fmt::format("{} may use shared memory of its own or a barrier", *name));
        return requireCalleesWithoutGrid(context_);
    }

    /// The places that ask how many blocks there are; all of them have to be seen.
    Gated<void> findGrids() {
        const auto hidden = [&] {
            return refuse("uses-grid",
                          fmt::format("{} asks how many blocks there are where it cannot be "
                                      "followed",
                                      kernel_.name));
        };
        std::ptrdiff_t seen = 0;
        for (ExprId id = 0; id < body_.exprs.size(); ++id) {
            const Expr& expr = body_.expr(id);
            if (expr.name != "gridDim")
                continue;
            if (expr.kind != ExprKind::BuiltinIndex || expr.fromMacro)
                return hidden();
            ++seen;
            if (expr.axis == found_.axis)
                found_.grids.push_back(id);
        }
        const std::vector<Token> tokens = lex(context_.file.source->text(), kernel_.bodySpan);
        if (std::ranges::count(tokens, std::string_view("gridDim"), &Token::text) != seen)
            return hidden();
        return {};
    }

    Gated<void> limitBySharedMemory() {
        constexpr std::uint64_t most = MultiprocessorLimits::staticSharedBytesPerBlock;
        std::uint64_t sharedBytes = 0;
        for (const SharedArray& array : kernel_.sharedArrays)
            sharedBytes += array.bytes;
        found_.most = mostParts;
        while (found_.most > 1 && sharedBytes * static_cast<std::uint64_t>(found_.most) > most)
            found_.most /= 2;
        if (found_.most < 2)
            return refuse("too-much-shared-memory",
                          fmt::format("{} declares {} bytes of shared memory, and can declare {}",
                                      kernel_.name, sharedBytes, most));
        return {};
    }

    Gated<void> findReturns(const StatementRoles& roles) {
        for (StmtId id = 0; id < body_.stmts.size(); ++id) {
            const auto run = roles.runOf(id);
            if (!run || body_.stmt(id).kind != StmtKind::Return)
                continue;
            KERNELSKILL_CHECK(requireLastReturn(id, roles, *run));
            found_.returns.push_back(id);
        }
        return {};
    }

    /// A return ends its part's turn at the last run, and nothing else.
    Gated<void> requireLastReturn(StmtId exit, const StatementRoles& roles, std::size_t run) const {
        const Stmt& stmt = body_.stmt(exit);
        if (stmt.fromMacro || !roles.runs()[run].isLast)
            return refuse("early-return",
                          fmt::format("threads that leave on line {} would be missing at barriers "
                                      "of other parts",
                                      line(stmt.span)));
        for (StmtId at = stmt.parent; roles.runOf(at).has_value(); at = body_.stmt(at).parent)
            if (isLoop(body_.stmt(at).kind))
                return refuse(
                    "early-return",
                    fmt::format("line {} leaves the kernel from within a loop", line(stmt.span)));
        for (const Barrier& barrier : kernel_.barriers)
            if (roles.runOf(code_.statement(barrier.call)) == run)
                return refuse("early-return",
                              fmt::format("threads that leave on line {} would be missing at the "
                                          "barrier on line {} for other parts",
                                          line(stmt.span), line(body_.expr(barrier.call).span)));
        return {};
    }

    /// Leaves each launch of known size as many blocks as a large GPU holds at once.
    Gated<void> limitByLaunches() {
        KERNELSKILL_CHECK(requirePassableGrids(context_));
        for (const LaunchSite& launch : kernel_.launches) {
            const CodeMap& host = context_.shared().host(launch.host);
            if (launch.sharedBytes != noId && host.constantValue(launch.sharedBytes) != 0)
                return refuse("dynamic-shared-memory",
                              fmt::format("the launch on {} gives a block shared memory, which "
                                          "parts would have in common",
                                          placeOf(context_, launch)));
            const Expr& grid = context_.file.hostFunctions[launch.host].body.expr(launch.grid);
            if (found_.axis != 0 && !isDim3Name(grid) &&
                (grid.kind != ExprKind::InitList || grid.children.size() <= found_.axis))
                return refuse("launch-grid", fmt::format("the launch on {} names no blocks along y",
                                                         placeOf(context_, launch)));
            const LaunchValues values(context_.shared(), launch);
            std::int64_t blocks = 1;
            for (const auto extent : values.grid())
                blocks *= extent.value_or(0);
            std::int64_t threads = 1;
            for (const auto extent : values.block())
                threads *= extent.value_or(0);
            if (blocks <= 0 || threads <= 0)
                continue;
            const std::int64_t resident =
                DataCentreGpu::multiprocessors * residentBlocksOf(threads);
            const std::int64_t alongAxis = *values.grid()[found_.axis];
            while (found_.most > 1 && (blocks < resident * found_.most || alongAxis < found_.most))
                found_.most /= 2;
            if (found_.most < 2)
                return refuse("few-blocks",
                              fmt::format("a large GPU holds {} blocks of {} threads at once, and "
                                          "the launch on {} has {}",
                                          resident, threads, placeOf(context_, launch), blocks));
        }
        return {};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    BlockParts found_;
};

} // namespace

Gated<BlockParts> blockParts(const SkillContext& context) {
    KERNELSKILL_CHECK(requireEditable(context));
    return PartsPlanner(context).plan();
}

} // namespace kernelskill::skills
