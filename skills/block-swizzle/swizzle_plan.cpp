#include "skills/block-swizzle/swizzle_plan.h"

#include "analysis/compile/data_centre_gpu.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/queries/launch_values.h"
#include "analysis/queries/source_layout.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"
#include "skills/block-swizzle/block_dependence.h"
#include "skills/gates/launch_sites.h"
#include "skills/gates/thread_position.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// NVIDIA H100 Tensor Core GPU Architecture, table 3.
constexpr std::int64_t residentSharedBytes = 228 << 10;
constexpr std::int64_t reservedSharedBytes =
    1 << 10; ///< The bytes that each block loses to the system.
constexpr double cacheBytes = 50 << 20;
/// Bytes a second, as measured on an H200 (docs/measurements/gpu-h200.md); on the chip a clock of
/// 1.98 GHz moves 128 bytes in each multiprocessor.
constexpr double memoryRate = 4.48e12;
constexpr double chipRate = 128 * 1.98e9 * DataCentreGpu::multiprocessors;
constexpr double warpBytes = 128;
/// The share of the cache for the rows of a group, which stay there while the columns go by.
constexpr double shareOfRows = 0.5;

constexpr std::array<std::int64_t, 4> groups = {2, 4, 8, 16};
constexpr double minFactor = 1.2;
constexpr double roundsOfALoop = 16;

double toDouble(std::int64_t value) {
    return static_cast<double>(value);
}

std::int64_t roundedUp(std::int64_t value, std::int64_t divisor) {
    return (value + divisor - 1) / divisor;
}

double bytesOf(const BlockTraffic& traffic, std::int64_t rows, std::int64_t columns,
               std::int64_t blocks) {
    return toDouble(rows) * traffic.row + toDouble(columns) * traffic.column +
           toDouble(blocks) * traffic.own;
}

bool isGlobal(const MemoryAccess& access) {
    return access.space == MemorySpace::Global || access.space == MemorySpace::Generic;
}

class SwizzlePlanner {
public:
    explicit SwizzlePlanner(const SkillContext& context)
        : context_(context), kernel_(context.kernel), body_(kernel_.body), blocks_(body_) {}

    Gated<SwizzlePlan> plan() {
        KERNELSKILL_CHECK(requireEditable(context_));
        if (!usesBlock(0) || !usesBlock(1))
            return refuse("no-second-axis",
                          fmt::format("the blocks of {} form one row", kernel_.name));
        SwizzlePlan plan;
        KERNELSKILL_TRY(auto positions, editableBlockPositions(context_));
        std::erase_if(positions, [&](ExprId id) { return body_.expr(id).axis > 1; });
        plan.positions = std::move(positions);
        KERNELSKILL_CHECK(requirePlainOrder());
        KERNELSKILL_CHECK(requireIndependentBlocks());
        KERNELSKILL_CHECK(requireContraction());
        const SourceLayout layout(*context_.file.source, kernel_);
        const auto& statements = body_.stmt(body_.root).children;
        if (!layout.endsLine(kernel_.bodySpan.begin + 1) ||
            !layout.startsLine(body_.stmt(statements.front()).span.begin))
            return refuse("several-statements-a-line",
                          fmt::format("the first statement of {} shares its line", kernel_.name));
        return withLaunches(std::move(plan));
    }

private:
    [[nodiscard]] bool usesBlock(std::uint8_t axis) const {
        return std::ranges::any_of(body_.exprs, [&](const Expr& expr) {
            return expr.kind == ExprKind::BuiltinIndex && expr.name == "blockIdx" &&
                   expr.axis == axis;
        });
    }

    /// The kernel takes its blocks as the grid counts them.
    Gated<void> requirePlainOrder() const {
        constexpr std::array<std::string_view, 10> reordering = {"/", "%",  ">>", "&",  "^",
                                                                 "|", "<<", "/=", "%=", ">>="};
        for (const Expr& expr : body_.exprs) {
            if (expr.kind != ExprKind::Binary || expr.children.empty() ||
                std::ranges::find(reordering, expr.op) == reordering.end() ||
                expr.type.scalar >= ScalarKind::Half)
                continue;
            const BlockAxes axes = blocks_.of(expr.children[0]);
            if ((axes.x || axes.y) && !axes.isLoaded)
                return refuse("already-swizzled",
                              fmt::format("line {} makes another position of the block's",
                                          lineNumber(context_, expr.span.begin)));
        }
        return {};
    }

    /// No block may wait for, or be a neighbour of, another one.
    Gated<void> requireIndependentBlocks() const {
        const auto meets = [&](ExprId call) {
            return refuse("blocks-meet",
                          fmt::format("blocks meet in what line {} does",
                                      lineNumber(context_, body_.expr(call).span.begin)));
        };
        for (const Barrier& barrier : kernel_.barriers)
            if (barrier.kind == BarrierKind::GridSync || barrier.kind == BarrierKind::Fence)
                return meets(barrier.call);
        for (const Atomic& atomic : kernel_.atomics)
            if (isGlobal(kernel_.accesses[atomic.access]))
                return meets(atomic.call);
        for (const Parameter& parameter : kernel_.parameters)
            if (parameter.type.isVolatile)
                return refuse("blocks-meet",
                              fmt::format("{} is volatile: blocks may meet there", parameter.name));
        // Neighbours in a cluster, which a launch may form without the kernel's text.
        constexpr std::array<std::string_view, 4> groups = {"this_grid", "this_cluster",
                                                            "this_multi_grid", "__cluster_dims__"};
        for (const Token& token : lex(context_.file.source->text(), kernel_.span))
            if (std::ranges::find(groups, token.text) != groups.end() ||
                token.text.contains("cluster"))
                return refuse("blocks-meet",
                              fmt::format("{} on line {} is about more than one block", token.text,
                                          lineNumber(context_, token.span.begin)));
        return {};
    }

    /// Loads in a loop that the blocks of a row share, and others that those of a column share.
    Gated<void> requireContraction() {
        bool hasRow = false;
        bool hasColumn = false;
        for (const MemoryAccess& access : kernel_.accesses) {
            if (!isGlobal(access) || access.kind != AccessKind::Read || access.loops.empty())
                continue;
            const BlockAxes axes = axesOf(access);
            if (axes.isLoaded)
                return refuse(
                    "index-loaded",
                    fmt::format("which elements line {} loads is not known from the block",
                                lineNumber(context_, spanOf(access).begin)));
            hasRow = hasRow || (axes.y && !axes.x);
            hasColumn = hasColumn || (axes.x && !axes.y);
        }
        if (!hasRow || !hasColumn)
            return refuse("no-contraction",
                          fmt::format("{} has no loop whose loads are shared by a row of blocks "
                                      "and by a column of blocks",
                                      kernel_.name));
        return {};
    }

    [[nodiscard]] Span spanOf(const MemoryAccess& access) const {
        return body_.expr(access.expression).span;
    }

    [[nodiscard]] BlockAxes axesOf(const MemoryAccess& access) const {
        if (!access.index || access.index->hasOpaque())
            return blocks_.ofPlace(access.expression);
        return {access.index->dependsOn({SymbolKind::BlockIdx, 0}),
                access.index->dependsOn({SymbolKind::BlockIdx, 1}), false};
    }

    /// Rounds of all loops that give an access another place, or other contents of shared memory;
    /// 1 for those that do not.
    template <typename Rounds>
    [[nodiscard]] double roundsOf(const MemoryAccess& access, const Rounds& rounds) const {
        double product = 1;
        for (const std::uint32_t number : access.loops) {
            const Loop& loop = kernel_.loops[number];
            const bool stays =
                isGlobal(access) && access.index && !access.index->hasOpaque() &&
                loop.inductionVariable != noId &&
                !access.index->dependsOn({SymbolKind::LoopVariable, loop.inductionVariable});
            product *= stays ? 1 : rounds(loop);
        }
        return product;
    }

    /// Whether threads along the axis touch elements of their own, in a loop that strides over
    /// threads, too.
    [[nodiscard]] bool differsAlong(const MemoryAccess& access, std::uint32_t axis) const {
        const Symbol thread{SymbolKind::ThreadIdx, axis};
        return !access.index || access.index->dependsOn(thread) ||
               std::ranges::any_of(access.loops, [&](std::uint32_t number) {
                   const Loop& loop = kernel_.loops[number];
                   return loop.start && loop.start->dependsOn(thread) &&
                          access.index->dependsOn(
                              {SymbolKind::LoopVariable, loop.inductionVariable});
               });
    }

    /// Bytes that the threads of one block touch in a round of its loops.
    [[nodiscard]] double bytesOfRound(const MemoryAccess& access, const Extents& block) const {
        double elements = 1;
        for (std::uint32_t axis = 0; axis < block.size(); ++axis)
            if (differsAlong(access, axis))
                elements *= toDouble(block[axis]);
        constexpr std::uint32_t usualWidth = 4;
        return elements * (access.width == 0 ? usualWidth : access.width);
    }

    template <typename Rounds>
    [[nodiscard]] BlockTraffic trafficOf(const Extents& block, const Rounds& rounds) const {
        BlockTraffic traffic;
        const double warps =
            std::ceil(toDouble(block[0] * block[1] * block[2]) / analysis::warpLanes);
        for (const MemoryAccess& access : kernel_.accesses) {
            const double times = roundsOf(access, rounds);
            if (isGlobal(access) || access.space == MemorySpace::Shared)
                traffic.onChip +=
                    warps * times * std::max<double>(warpBytes, access.width * analysis::warpLanes);
            if (!isGlobal(access))
                continue;
            const BlockAxes axes = axesOf(access);
            const double bytes = bytesOfRound(access, block) * times;
            if (axes.x && axes.y)
                traffic.own += bytes;
            else if (axes.y)
                traffic.row += bytes;
            else if (axes.x)
                traffic.column += bytes;
        }
        return traffic;
    }

    [[nodiscard]] std::int64_t blocksAtOnce(const Extents& block) const {
        std::int64_t bytes = reservedSharedBytes;
        for (const SharedArray& array : kernel_.sharedArrays)
            bytes += static_cast<std::int64_t>(array.bytes);
        const std::int64_t threads = block[0] * block[1] * block[2];
        return DataCentreGpu::multiprocessors *
               std::max<std::int64_t>(
                   1, std::min(residentBlocksOf(threads), residentSharedBytes / bytes));
    }

    Gated<SwizzlePlan> withLaunches(SwizzlePlan plan) const {
        KERNELSKILL_TRY(const auto blocks, launchedBlocks(context_));
        std::optional<Refusal> refusal;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            auto found = choicesFor(kernel_.launches[i], blocks[i]);
            if (!found) {
                refusal = std::move(found.error());
                continue;
            }
            if (plan.choices.empty() ||
                found->choices.front().factor > plan.choices.front().factor) {
                plan.choices = std::move(found->choices);
                plan.wave = found->wave;
            }
        }
        if (plan.choices.empty())
            return std::unexpected(std::move(*refusal));
        return plan;
    }

    struct Choices {
        Wave wave;
        std::vector<Swizzle> choices;
    };

    [[nodiscard]] Gated<Choices> choicesFor(const LaunchSite& launch, const Extents& block) const {
        const LaunchValues values(context_.shared(), launch);
        const std::string place = placeOf(context_, launch);
        Choices found;
        found.wave = {blocksAtOnce(block), values.grid()[0], values.grid()[1]};
        const Wave& wave = found.wave;
        if (wave.columns && wave.rows && *wave.columns * *wave.rows <= wave.blocks)
            return refuse("one-wave", fmt::format("the {} x {} blocks of the launch on {} are all "
                                                  "resident at once on a large GPU",
                                                  *wave.columns, *wave.rows, place));
        bool isExact = true;
        const BlockTraffic traffic = trafficOf(block, [&](const Loop& loop) {
            const auto rounds = values.rounds(loop);
            isExact = isExact && rounds;
            return rounds ? toDouble(*rounds) : roundsOfALoop;
        });
        if (isExact && wave.columns && wave.rows) {
            const double inputs = bytesOf(traffic, *wave.rows, *wave.columns, 0);
            if (inputs <= cacheBytes)
                return refuse("fits-cache",
                              fmt::format("the {:.1f} MB that the launch on {} loads fit the "
                                          "L2 cache in any order",
                                          inputs / 1e6, place));
        }
        const double before = bytesRowByRow(traffic, wave);
        bool sharesMore = false;
        for (const std::int64_t rows : groups) {
            if (wave.rows && rows > *wave.rows)
                continue;
            if (isExact && toDouble(rows) * traffic.row > shareOfRows * cacheBytes)
                continue;
            const double after = bytesInGroups(traffic, wave, rows);
            const double factor =
                minSeconds(traffic, wave, before) / minSeconds(traffic, wave, after);
            sharesMore = sharesMore || before / after >= minFactor;
            if (factor >= minFactor)
                found.choices.push_back({rows, before / after, factor});
        }
        if (found.choices.empty() && sharesMore)
            return refuse("chip-decides",
                          fmt::format("passing shared memory and caches takes the {} blocks "
                                      "resident at once {:.1f} times as long as device memory "
                                      "takes to bring in what they load, in any order",
                                      wave.blocks,
                                      minSeconds(traffic, wave, 0) / (before / memoryRate)));
        if (found.choices.empty())
            return refuse("wave-shares-already",
                          fmt::format("the {} blocks that are resident at once share as much of "
                                      "what they load as in groups of rows",
                                      wave.blocks));
        std::ranges::stable_sort(found.choices, std::ranges::greater{}, [](const Swizzle& choice) {
            return std::pair(choice.factor, choice.bytes);
        });
        return found;
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const FunctionBody& body_;
    BlockDependence blocks_;
};

} // namespace

double bytesRowByRow(const BlockTraffic& traffic, const Wave& wave) {
    // A row of unknown length counts as longer than a wave.
    const std::int64_t columns = std::min(wave.columns.value_or(wave.blocks), wave.blocks);
    return bytesOf(traffic, roundedUp(wave.blocks, columns), columns, wave.blocks);
}

double bytesInGroups(const BlockTraffic& traffic, const Wave& wave, std::int64_t groupRows) {
    const std::int64_t wanted = roundedUp(wave.blocks, groupRows);
    const std::int64_t columns = std::min(wave.columns.value_or(wanted), wanted);
    return bytesOf(traffic, std::max(groupRows, roundedUp(wave.blocks, columns)), columns,
                   wave.blocks);
}

double minSeconds(const BlockTraffic& traffic, const Wave& wave, double bytes) {
    return std::max(bytes / memoryRate, toDouble(wave.blocks) * traffic.onChip / chipRate);
}

Gated<SwizzlePlan> planSwizzle(const SkillContext& context) {
    return SwizzlePlanner(context).plan();
}

} // namespace kernelskill::skills
