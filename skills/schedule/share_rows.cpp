#include "skills/schedule/share_rows.h"

#include "analysis/queries/launch_extents.h"
#include "analysis/source/gpu_constants.h"
#include "skills/editing/grid_size.h"
#include "skills/gates/launch_sites.h"
#include "skills/schedule/fold_text.h"
#include "skills/schedule/promote.h"
#include "skills/schedule/scan_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class RowWriter {
public:
    RowWriter(Draft& draft, const SkillContext& context, const LaneRows& rows)
        : draft_(draft), context_(context), rows_(rows), shared_(rows.shared),
          code_(context.code()), body_(code_.body()), isOfWarp_(rows.sharers == RowSharers::Warp),
          lane_(isOfWarp_ ? freshName(body_, "lane") : "threadIdx.x"),
          offset_(freshName(body_, "offset")), warp_(freshName(body_, "warp")),
          mask_(rows.lanes == warpLanes ? "0xffffffff" : freshName(body_, "mask")) {
        if (!isOfWarp_)
            partials_ = partialsOf(context, rows.shared);
    }

    void write() {
        if (isOfWarp_)
            placeWarps();
        else
            placeBlocks();
        for (std::size_t i = 0; i < shared_.kept.size(); ++i)
            promote(draft_, context_, shared_.kept[i], shared_.names[i]);
        for (std::size_t i = 0; i < shared_.loops.size(); ++i)
            share(i);
        const std::string isFirst = fmt::format("{} == 0", lane_);
        storeBack(draft_, shared_.kept, shared_.names, isFirst);
        for (const StmtId store : shared_.stores)
            draft_.guard(store, isFirst);
        if (rows_.guard)
            return;
        if (rows_.position.isOneThread) {
            for (const LaunchSite& launch : context_.kernel.launches)
                widenBlock(launch);
            return;
        }
        const auto blocks = launchedBlocks(context_);
        for (std::size_t i = 0; i < context_.kernel.launches.size(); ++i) {
            const std::int64_t factor = isOfWarp_ || !blocks ? rows_.lanes : (*blocks)[i][0];
            TextEdit grid =
                multipliedGrid(context_, context_.kernel.launches[i], static_cast<int>(factor));
            draft_.replace(grid.span, std::move(grid.newText));
        }
    }

private:
    /// Makes the block of one thread a block of one warp.
    void widenBlock(const LaunchSite& launch) {
        const FunctionBody& host = context_.file.hostFunctions[launch.host].body;
        const Expr& block = host.expr(launch.block);
        const Expr& width = block.kind == ExprKind::InitList ? host.expr(block.children[0]) : block;
        draft_.replace(width.span, std::to_string(warpLanes));
    }

    /// Lets the thread's whole warp into the part that it ran alone.
    void admitWarp() {
        const ThreadGuard& guard = *rows_.guard;
        const std::string lane = fmt::format("const int {} = threadIdx.x % {};", lane_, warpLanes);
        if (guard.statement == noId)
            return writeHead(draft_, context_, {lane});
        draft_.before(guard.statement, {lane});
        draft_.replace(body_.expr(guard.comparison).span,
                       fmt::format("{} < {}",
                                   context_.file.source->slice(body_.expr(guard.position).span),
                                   warpLanes));
    }

    /// Counts threads, and the widths of blocks, by warps.
    void placeWarps() {
        if (rows_.guard)
            return admitWarp();
        if (rows_.position.isOneThread)
            return writeHead(draft_, context_, {fmt::format("const int {} = threadIdx.x;", lane_)});
        for (const ExprId id : rows_.position.threads)
            draft_.replace(body_.expr(id).span,
                           operand(id, fmt::format("threadIdx.x / {}", rows_.lanes), false));
        for (const ExprId id : rows_.position.widths) {
            const Expr& expr = body_.expr(id);
            const bool isNumber = expr.kind == ExprKind::Integer && !expr.fromMacro;
            draft_.replace(
                expr.span,
                isNumber ? std::to_string(expr.integer / rows_.lanes)
                         : operand(id,
                                   fmt::format("{} / {}", context_.file.source->slice(expr.span),
                                               rows_.lanes),
                                   true));
        }
        std::vector<std::string> lines{
            fmt::format("const int {} = threadIdx.x % {};", lane_, rows_.lanes)};
        if (rows_.lanes != warpLanes && needsMask())
            lines.push_back(fmt::format("const unsigned {} = {:#x}u << (threadIdx.x % {} - {});",
                                        mask_, (1U << rows_.lanes) - 1, warpLanes, lane_));
        if (rows_.position.declaration != noId)
            draft_.after(rows_.position.declaration, lines);
        else
            writeHead(draft_, context_, lines);
    }
    /// Whether lanes exchange values or wait: only those of one row do so with each other.
    [[nodiscard]] bool needsMask() const {
        return std::ranges::any_of(shared_.loops, [](const LaneLoop& loop) {
            return loop.syncsBefore || loop.syncsAfter || folds(loop);
        });
    }
    /// Returns `text`, a quotient, in brackets where it is an operand; of a sum only if `isWidth`.
    [[nodiscard]] std::string operand(ExprId id, std::string text, bool isWidth) const {
        ExprId parent = code_.parent(id);
        while (parent != noId && body_.expr(parent).kind == ExprKind::Cast)
            parent = code_.parent(parent);
        const bool isOperand = parent != noId && body_.expr(parent).kind == ExprKind::Binary &&
                               !isAssignment(body_.expr(parent).op);
        const bool isTerm =
            isOperand && (body_.expr(parent).op == "+" || body_.expr(parent).op == "-");
        return isOperand && (isWidth || !isTerm) ? "(" + text + ")" : text;
    }

    /// Counts blocks where threads were counted.
    void placeBlocks() {
        for (const PositionSum& sum : rows_.position.sums) {
            const Expr& blocks = body_.expr(sum.blocks);
            const std::string text{context_.file.source->slice(blocks.span)};
            const ExprId parent = code_.parent(sum.sum);
            const bool isOperand = parent != noId && body_.expr(parent).kind == ExprKind::Binary &&
                                   !isAssignment(body_.expr(parent).op) &&
                                   blocks.kind == ExprKind::Binary;
            draft_.replace(body_.expr(sum.sum).span, isOperand ? "(" + text + ")" : text);
        }
        std::vector<std::string> arrays;
        for (const std::vector<Partial>& partials : partials_)
            for (const Partial& partial : partials)
                arrays.push_back(fmt::format("__shared__ {} {}[{}];", partial.value.type,
                                             partial.array, warpLanes));
        if (!arrays.empty())
            writeHead(draft_, context_, arrays);
    }

    void share(std::size_t index) {
        const LaneLoop& loop = shared_.loops[index];
        const std::string barrier = !isOfWarp_                 ? "__syncthreads();"
                                    : rows_.lanes == warpLanes ? "__syncwarp();"
                                                               : "__syncwarp(" + mask_ + ");";
        if (loop.syncsBefore)
            draft_.before(loop.statement, {barrier});
        if (const std::vector<std::string> counts = countLines(loop); !counts.empty())
            draft_.before(loop.statement, counts);
        if (loop.scan)
            scanRounds(draft_, context_, loop, lane_);
        else
            shareRounds(draft_, context_, loop,
                        {lane_, isOfWarp_ ? std::to_string(rows_.lanes) : "blockDim.x"});
        // The value of the lane whose number differs in one bit.
        std::vector<std::string> folds =
            foldLines(draft_, context_, loop, [&](const std::string& name) {
                return fmt::format("__shfl_xor_sync({}, {}, {})", mask_, name, offset_);
            });
        const bool isFolded = !folds.empty();
        if (isFolded)
            draft_.after(loop.statement,
                         draft_.controlled(fmt::format("for (int {0} = {1}; {0} > 0; {0} /= 2)",
                                                       offset_, rows_.lanes / 2),
                                           std::move(folds)));
        if (isOfWarp_ && !loop.welfords.empty())
            draft_.after(loop.statement, agreeLines(context_, loop, [&](const std::string& name) {
                             return fmt::format(
                                 "__shfl_sync({}, {}, 0{})", mask_, name,
                                 rows_.lanes == warpLanes ? "" : fmt::format(", {}", rows_.lanes));
                         }));
        if (isFolded && !isOfWarp_)
            foldWarps(loop, partials_[index]);
        else if (loop.syncsAfter)
            draft_.after(loop.statement, {barrier});
    }

    /// Every thread folds what the warps of the block found.
    void foldWarps(const LaneLoop& loop, const std::vector<Partial>& partials) {
        std::vector<std::string> lines;
        std::vector<std::string> writes;
        for (const Partial& partial : partials)
            writes.push_back(fmt::format("{}[threadIdx.x / {}] = {};", partial.array, warpLanes,
                                         partial.value.name));
        // The array may still be read from the round before of a loop around.
        if (context_.kernel.loops[loop.loop].parent != noId)
            lines.emplace_back("__syncthreads();");
        const auto add = [&](std::vector<std::string> more) {
            lines.insert(lines.end(), more.begin(), more.end());
        };
        add(draft_.controlled(fmt::format("if (threadIdx.x % {} == 0)", warpLanes),
                              std::move(writes)));
        lines.emplace_back("__syncthreads();");
        for (const Partial& partial : partials)
            lines.push_back(fmt::format("{} = {}[0];", partial.value.name, partial.array));
        add(draft_.controlled(
            fmt::format("for (int {0} = 1; {0} < blockDim.x / {1}; ++{0})", warp_, warpLanes),
            foldLines(draft_, context_, loop, [&](const std::string& name) {
                return fmt::format("{}[{}]", partialOf(partials, name).array, warp_);
            })));
        draft_.after(loop.statement, lines);
    }

    Draft& draft_;
    const SkillContext& context_;
    const LaneRows& rows_;
    const SharedLoops& shared_;
    const CodeMap& code_;
    const FunctionBody& body_;
    bool isOfWarp_;
    std::string lane_;
    std::string offset_;
    std::string warp_;
    std::string mask_;                           ///< The lanes that share a row.
    std::vector<std::vector<Partial>> partials_; ///< By loop, of a block.
};

} // namespace

void shareRows(Draft& draft, const SkillContext& context, const LaneRows& rows) {
    RowWriter(draft, context, rows).write();
}

} // namespace kernelskill::skills
