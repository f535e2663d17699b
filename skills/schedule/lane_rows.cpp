#include "skills/schedule/lane_rows.h"

#include "analysis/queries/launch_extents.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/counted_grid.h"
#include "skills/gates/launch_sites.h"
#include "skills/schedule/lane_sectors.h"
#include "skills/schedule/threads_apart.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <bit>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The min ratio of the sectors before to those after that is worth an edit.
constexpr double minOverfetch = 1.5;

class RowFinder {
public:
    RowFinder(const SkillContext& context, RowSharers sharers, const LoopSearch& search)
        : context_(context), kernel_(context.kernel), nest_(context.shared().nest()),
          search_(search) {
        rows_.sharers = sharers;
    }

    Gated<LaneRows> find() {
        KERNELSKILL_CHECK(requireEditable(context_));
        if (search_.scans == LoopScans::Allowed && isOneThread()) {
            rows_.position.isOneThread = true;
        } else {
            KERNELSKILL_TRY(rows_.position, rowPosition(context_));
        }
        KERNELSKILL_CHECK(requireThreadsApart(context_));
        KERNELSKILL_CHECK(requireOwnPosition());
        const auto isWorthIt = [this](NestNodeId id) { return requireFewerSectors(id); };
        KERNELSKILL_TRY(rows_.shared, sharedLoops(context_, isWorthIt, search_));
        if (search_.scans == LoopScans::Allowed && scannedLoop(rows_.shared) == nullptr)
            return refuse("no-scan",
                          fmt::format("no loop of {} stores a running value", kernel_.name));
        rows_.rows = fewestThreads(context_);
        for (const LaneLoop& loop : rows_.shared.loops) {
            const LaneSectors sectors = laneSectors(nest_, loop.node);
            rows_.sectorsBefore += sectors.asThreads;
            rows_.sectorsAfter += sectors.asLanes;
            if (isOfOneRow(loop.node))
                rows_.rows = 1;
            if (const auto& rounds = kernel_.loops[loop.loop].tripCount;
                rounds && *rounds < rows_.lanes)
                rows_.lanes = static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(*rounds)));
        }
        KERNELSKILL_CHECK(requireWholeWarps());
        return std::move(rows_);
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    /// Whether every launch has a single thread, and no code asks which it is.
    [[nodiscard]] bool isOneThread() const {
        const auto blocks = launchedBlocks(context_);
        const auto isOne = [](const Extents& block) {
            return std::ranges::all_of(block, [](std::int64_t extent) { return extent == 1; });
        };
        if (!blocks || !std::ranges::all_of(*blocks, isOne) || fewestThreads(context_) != 1)
            return false;
        for (const LaunchSite& launch : kernel_.launches) {
            const CodeMap& host = context_.shared().host(launch.host);
            const auto grid = constantExtents(host, launch.grid);
            const Expr& block = host.body().expr(launch.block);
            const bool isNumber = block.kind == ExprKind::Integer ||
                                  (block.kind == ExprKind::InitList && !block.children.empty() &&
                                   host.body().expr(block.children[0]).kind == ExprKind::Integer);
            if (!grid || !isOne(*grid) || block.fromMacro || !isNumber)
                return false;
        }
        return std::ranges::none_of(nest_.frames, [&](const NestFrame& frame) {
            const FunctionBody& body = functionOf(context_.file, kernel_, frame).body;
            return std::ranges::any_of(
                body.exprs, [](const Expr& expr) { return expr.kind == ExprKind::BuiltinIndex; });
        });
    }

    /// Refuses device functions that ask which thread calls them, and positions of another form
    /// than a block's need.
    [[nodiscard]] Gated<void> requireOwnPosition() const {
        for (const NestFrame& frame : nest_.frames) {
            const KernelModel& function = functionOf(context_.file, kernel_, frame);
            if (frame.caller != noId &&
                std::ranges::any_of(function.body.exprs, [](const Expr& expr) {
                    return expr.kind == ExprKind::BuiltinIndex;
                }))
                return refuse("uses-thread-position", function.name + " asks which thread it is");
        }
        if (rows_.sharers == RowSharers::Block && rows_.position.sums.empty())
            return refuse("no-row-index",
                          fmt::format("{} does not write its threads' index in the grid as "
                                      "blockIdx.x * blockDim.x + threadIdx.x",
                                      kernel_.name));
        return {};
    }

    [[nodiscard]] Gated<void> requireFewerSectors(NestNodeId loop) const {
        const LaneSectors sectors = laneSectors(nest_, loop);
        if (sectors.asLanes * minOverfetch <= sectors.asThreads || rows_.position.isOneThread ||
            (rows_.sharers == RowSharers::Block && isOfOneRow(loop)))
            return {};
        return refuse("coalesced", fmt::format("lanes side by side in the loop on line {} would "
                                               "hardly touch fewer sectors",
                                               line(nest_.node(loop).span)));
    }

    /// Whether a single thread of the grid comes to the node.
    [[nodiscard]] bool isOfOneRow(NestNodeId id) const {
        return std::ranges::any_of(around(nest_, id), [&](NestNodeId at) {
            const NestGuard* guard = nest_.node(at).guard();
            return guard != nullptr && fixesThread(guard->condition);
        });
    }
    [[nodiscard]] bool fixesThread(const NestCondition& condition) const {
        if (condition.kind == NestCondition::Kind::All)
            return std::ranges::any_of(
                condition.parts, [&](const NestCondition& part) { return fixesThread(part); });
        if (condition.kind != NestCondition::Kind::Zero)
            return false;
        const auto& terms = condition.expression.terms();
        return std::ranges::any_of(terms, [&](const auto& term) {
            const NestSymbol* named =
                term.first.size() == 1 ? nest_.symbols.find(term.first.front()) : nullptr;
            return named != nullptr && named->kind == NestSymbolKind::Position &&
                   nest_.symbols.isLaunchConstant(condition.expression -
                                                  IndexExpression::constant(term.second) *
                                                      IndexExpression::symbol(term.first.front()));
        });
    }

    [[nodiscard]] Gated<void> requireWholeWarps() const {
        KERNELSKILL_CHECK(requireCountableGrids(context_));
        if (rows_.position.isOneThread)
            return {};
        KERNELSKILL_TRY(const auto blocks, launchedBlocks(context_));
        for (const Extents& block : blocks)
            if (block[0] % warpLanes != 0)
                return refuse("partial-warps",
                              fmt::format("blocks of {} x {} x {} threads are no whole warps "
                                          "along x",
                                          block[0], block[1], block[2]));
        if (rows_.sharers == RowSharers::Block && rows_.position.isAxisShared)
            return refuse("no-row-index",
                          fmt::format("blocks of {} have threads along y or z", kernel_.name));
        return {};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const Nest& nest_;
    LoopSearch search_;
    LaneRows rows_;
};

} // namespace

Gated<LaneRows> laneRows(const SkillContext& context, RowSharers sharers, int minRounds) {
    return RowFinder(context, sharers, {.minRounds = minRounds}).find();
}

Gated<LaneRows> scannedRows(const SkillContext& context) {
    return RowFinder(context, RowSharers::Warp, {.scans = LoopScans::Allowed}).find();
}

ExpectedGain sectorGain(const LaneRows& rows) {
    return {.factor = rows.sectorsBefore / rows.sectorsAfter,
            .basis = fmt::format("{:g} sectors a round become {:g}", rows.sectorsBefore,
                                 rows.sectorsAfter)};
}

} // namespace kernelskill::skills
