#include "skills/schedule/column_parts.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/counted_grid.h"
#include "skills/gates/launch_sites.h"
#include "skills/schedule/lane_sectors.h"
#include "skills/schedule/nest_queries.h"
#include "skills/schedule/threads_apart.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Lanes along a row that touch so many times fewer sectors are what to look for instead.
constexpr double maxOverfetch = 1.5;

class ColumnFinder {
public:
    explicit ColumnFinder(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          nest_(context.shared().nest()) {}

    Gated<ColumnParts> find() {
        KERNELSKILL_CHECK(requireEditable(context_));
        KERNELSKILL_CHECK(requireThreadsApart(context_));
        KERNELSKILL_TRY(found_.shared, sharedLoops(context_, [this](NestNodeId id) {
                            return requireCoalesced(id);
                        }));
        KERNELSKILL_CHECK(requireWorkIsShared());
        KERNELSKILL_TRY(found_.guard, splitGuard(context_, found_.shared));
        KERNELSKILL_CHECK(requireCountableGrids(context_));
        KERNELSKILL_CHECK(readLaunches());
        KERNELSKILL_CHECK(findAxis());
        found_.canNarrow = found_.block[0] % warpLanes == 0 && followsBlock();
        return std::move(found_);
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    [[nodiscard]] Gated<void> requireCoalesced(NestNodeId loop) const {
        const LaneSectors sectors = laneSectors(nest_, loop);
        if (sectors.asLanes * maxOverfetch > sectors.asThreads)
            return {};
        const std::uint32_t at = line(nest_.node(loop).span);
        if (sectors.asLanes * maxOverfetch > sectors.surelyAsThreads)
            return refuse("uncoalesced",
                          fmt::format("the text does not tell how far apart the threads of a warp "
                                      "are in the loop on line {}",
                                      at));
        return refuse("uncoalesced",
                      fmt::format("the threads of a warp are a row apart in the loop on line {}, "
                                  "which further threads do not mend",
                                  at));
    }

    [[nodiscard]] bool isShared(NestNodeId id) const {
        return std::ranges::any_of(found_.shared.loops, [&](const LaneLoop& loop) {
            return isInside(nest_, loop.node, id);
        });
    }

    /// Loops around a node and it, if it is one.
    [[nodiscard]] std::ptrdiff_t loopDepth(NestNodeId id) const {
        return std::ranges::count_if(
                   around(nest_, id),
                   [&](NestNodeId outer) { return nest_.node(outer).loop() != nullptr; }) +
               (nest_.node(id).loop() != nullptr ? 1 : 0);
    }

    /// Each thread of a column would do again what is outside of the shared loops.
    [[nodiscard]] Gated<void> requireWorkIsShared() const {
        std::ptrdiff_t depth = 0;
        for (NestNodeId id = 0; id < nest_.nodes.size(); ++id)
            if (isShared(id))
                depth = std::max(depth, loopDepth(id));
        for (NestNodeId id = 0; id < nest_.nodes.size(); ++id)
            if (!isShared(id) && loopDepth(id) > depth)
                return refuse("unshared-work",
                              fmt::format("line {} is in more loops than what threads can share",
                                          line(nest_.node(id).span)));
        return {};
    }

    Gated<void> readLaunches() {
        KERNELSKILL_TRY(const auto blocks, launchedBlocks(context_));
        found_.block = blocks.front();
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const LaunchSite& launch = kernel_.launches[i];
            if (blocks[i] != found_.block)
                return refuse(
                    "blocks-differ",
                    fmt::format("the launch on line {} has blocks of {} x {} x {} threads",
                                line(launch.span), blocks[i][0], blocks[i][1], blocks[i][2]));
            const Expr& block = context_.file.hostFunctions[launch.host].body.expr(launch.block);
            if (!launch.configurationSpan.contains(block.span))
                return refuse("launch-block",
                              fmt::format("the block of the launch on line {} is not written there",
                                          line(launch.span)));
        }
        found_.threads = fewestThreads(context_);
        return {};
    }

    Gated<void> findAxis() {
        if (const auto axis = idleAxis(); axis && setsWhatItReads()) {
            if (found_.threads)
                *found_.threads /= found_.block[*axis];
            found_.block[*axis] = 1;
            found_.axis = *axis;
            return {};
        }
        KERNELSKILL_CHECK(requireNoRedundantThreads(context_));
        for (const std::uint8_t axis : {std::uint8_t{1}, std::uint8_t{2}}) {
            if (found_.block[axis] != 1 || asksForThreads(context_, axis))
                continue;
            found_.axis = axis;
            return {};
        }
        return refuse(
            "no-free-axis",
            fmt::format("{} tells its threads apart along all axes of a block", kernel_.name));
    }

    /// Returns the one axis along which blocks have threads that all do the same work.
    [[nodiscard]] std::optional<std::uint8_t> idleAxis() const {
        std::optional<std::uint8_t> idle;
        for (const std::uint8_t axis : {std::uint8_t{1}, std::uint8_t{2}}) {
            if (found_.block[axis] == 1 || asksForThreads(context_, axis))
                continue;
            if (idle)
                return std::nullopt;
            idle = axis;
        }
        return idle;
    }

    /// Whether threads that do the same work leave the same as one of them: what they store to they
    /// read only after they have set it.
    [[nodiscard]] bool setsWhatItReads() const {
        const auto isKept = [&](const NestAccess& access) {
            const KeptElement* kept = keptWith(found_.shared.kept, access);
            return kept != nullptr && kept->initialisation != noId;
        };
        return std::ranges::all_of(nest_.accesses, [&](const NestAccess& store) {
            if (store.array == noId)
                return false;
            if (store.kind == AccessKind::Read || isThreadsOwn(nest_, store) || isKept(store))
                return true;
            return store.kind == AccessKind::Write &&
                   std::ranges::none_of(nest_.accesses, [&](const NestAccess& load) {
                       return load.array == store.array && load.kind != AccessKind::Write;
                   });
        });
    }

    /// Along x the kernel asks for nothing but the thread's index in the grid.
    [[nodiscard]] bool followsBlock() const {
        std::vector<ExprId> followed;
        for (ExprId id = 0; id < body_.exprs.size(); ++id) {
            const Expr& expr = body_.expr(id);
            if (expr.kind == ExprKind::Binary && expr.op == "+" && !expr.fromMacro &&
                polynomialOf(code_, id) == flatThreadIndex())
                std::ranges::copy(code_.expressionsBelow(id), std::back_inserter(followed));
        }
        const auto isFollowed = [&](ExprId id) {
            return std::ranges::find(followed, id) != followed.end();
        };
        for (ExprId id = 0; id < body_.exprs.size(); ++id)
            if (body_.expr(id).kind == ExprKind::BuiltinIndex && body_.expr(id).axis == 0 &&
                !isFollowed(id))
                return false;
        return nest_.frames.size() == 1 && !followed.empty();
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Nest& nest_;
    ColumnParts found_;
};

} // namespace

std::int64_t ColumnParts::columns() const {
    return canNarrow ? warpLanes : block[0];
}

std::int64_t ColumnParts::threadsOfPart() const {
    return columns() * block[1] * block[2];
}

Gated<ColumnParts> columnParts(const SkillContext& context) {
    return ColumnFinder(context).find();
}

} // namespace kernelskill::skills
