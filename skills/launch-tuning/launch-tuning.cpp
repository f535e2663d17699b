/// Chooses another block size where the launch wastes lanes, warps or multiprocessors.
#include "analysis/queries/launch_extents.h"
#include "analysis/source/gpu_constants.h"
#include "skills/base/planned_skill.h"
#include "skills/editing/grid_size.h"
#include "skills/gates/any_block.h"
#include "skills/gates/block_choice.h"
#include "skills/gates/elementwise_kernel.h"
#include "skills/gates/launch_sites.h"
#include "skills/launch-tuning/block_shapes.h"
#include "skills/launch-tuning/following_grid.h"
#include "skills/launch-tuning/grid_axes.h"
#include "skills/launch-tuning/shaped_launches.h"
#include "skills/schedule/row_position.h"
#include "skills/schedule/threads_apart.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The extents of a block: along x, plus 2^11 times that along y, plus 2^22 times that along z. Of
/// a block with one axis, only that along x.
enum class BlockSize : int {};
constexpr int axisBits = 11;

BlockSize sizeOf(const Extents& block) {
    const bool isRow = block[1] == 1 && block[2] == 1;
    const std::int64_t others = isRow ? 0 : block[1] | block[2] << axisBits;
    return BlockSize{static_cast<int>(block[0] | others << axisBits)};
}

Extents extentsOf(BlockSize size) {
    constexpr int mask = (1 << axisBits) - 1;
    const int bits = static_cast<int>(size);
    return {bits & mask, std::max(1, bits >> axisBits & mask), std::max(1, bits >> 2 * axisBits)};
}

std::string described(const Extents& block) {
    if (block[1] == 1 && block[2] == 1)
        return std::to_string(block[0]);
    return block[2] == 1 ? fmt::format("{} x {}", block[0], block[1])
                         : fmt::format("{} x {} x {}", block[0], block[1], block[2]);
}

/// A launch's grid and block, and how its text counts blocks.
class TunedLaunch {
public:
    TunedLaunch(const SkillContext& context, const LaunchSite& launch)
        : context_(context), launch_(launch), host_(context.shared().host(launch.host)) {}

    [[nodiscard]] std::optional<std::int64_t> blocks() const {
        const auto grid = constantExtents(host_, launch_.grid);
        return grid && (*grid)[1] == 1 && (*grid)[2] == 1 ? std::optional((*grid)[0])
                                                          : std::nullopt;
    }

    /// The edits that give the block `threads` instead of `old` threads, and the grid as many
    /// blocks as cover the same threads. With `keepsThreads` no thread more: `threads` has to
    /// divide `old`.
    [[nodiscard]] Gated<std::vector<TextEdit>> edits(std::int64_t old, std::int64_t threads,
                                                     bool keepsThreads) const {
        std::vector<TextEdit> edits =
            keepsThreads
                ? std::vector{multipliedGrid(context_, launch_, static_cast<int>(old / threads))}
                : gridEdits(old, threads);
        KERNELSKILL_TRY(TextEdit block, blockEdit(context_, launch_, {threads, 1, 1}));
        edits.push_back(std::move(block));
        return edits;
    }

private:
    [[nodiscard]] const Expr& expr(ExprId id) const { return host_.body().expr(id); }

    [[nodiscard]] bool isLiteral(ExprId id, std::int64_t value) const {
        const Expr& literal = expr(host_.withoutCasts(id));
        return literal.kind == ExprKind::Integer && !literal.fromMacro && literal.integer == value;
    }

    /// Whether the kernel's bounds check is against just what `size` is in the host code. Otherwise
    /// the grid may leave elements out, and which ones depends on how it is rounded.
    [[nodiscard]] bool isLimit(ExprId size) const {
        const auto guarded = recogniseElementwise(context_, context_.code());
        if (!guarded)
            return true; // a grid-stride loop, for which any grid will do
        const VariableId limit = context_.code().namedVariable(guarded->limit);
        const auto& parameters = context_.kernel.parameters;
        const auto found = std::ranges::find(parameters, limit, &Parameter::variable);
        const auto index = static_cast<std::size_t>(found - parameters.begin());
        const SourceText& source = *context_.file.source;
        return limit != noId && found != parameters.end() && index < launch_.argumentSpans.size() &&
               source.slice(launch_.argumentSpans[index]) == source.slice(expr(size).span);
    }

    [[nodiscard]] std::vector<TextEdit> gridEdits(std::int64_t old, std::int64_t threads) const {
        const Expr& grid = expr(launch_.grid);
        const bool isList = grid.kind == ExprKind::InitList && !grid.children.empty();
        const Expr& blocks = expr(isList ? grid.children[0] : launch_.grid);
        // (n + 255) / 256 becomes (n + 127) / 128.
        const bool isQuotient = blocks.kind == ExprKind::Binary && blocks.op == "/" &&
                                isLiteral(blocks.children[1], old);
        if (isQuotient) {
            const Expr& sum = expr(host_.withoutCasts(blocks.children[0]));
            if (sum.kind == ExprKind::Binary && sum.op == "+")
                for (std::size_t i = 0; i < sum.children.size(); ++i)
                    if (const ExprId part = sum.children[i];
                        isLiteral(part, old - 1) && isLimit(sum.children[1 - i]))
                        return {{expr(host_.withoutCasts(part)).span, std::to_string(threads - 1)},
                                {expr(host_.withoutCasts(blocks.children[1])).span,
                                 std::to_string(threads)}};
        }
        if (old % threads == 0)
            return {multipliedGrid(context_, launch_, static_cast<int>(old / threads))};
        if (threads % old == 0)
            return {dividedGrid(context_, launch_, static_cast<int>(threads / old))};
        return {scaledGrid(context_, launch_, static_cast<int>(old), static_cast<int>(threads))};
    }

    const SkillContext& context_;
    const LaunchSite& launch_;
    const CodeMap& host_;
};

struct Study {
    Extents block{1, 1, 1}; ///< As launched.
    /// The grid has to keep its number of threads, since no check of the kernel is known to keep
    /// further ones from work.
    bool keepsThreads = false;
    std::optional<BlockChoice> better; ///< nullopt if nothing speaks against the block as it is.
    /// Set where blocks have a shape, or something keeps the number of threads in a row from being
    /// chosen by the text.
    std::optional<GridAxes> axes;
    Refusal unsized; ///< The reason why only a measurement can choose; set if `axes` is.

    [[nodiscard]] std::int64_t threads() const { return block[0] * block[1] * block[2]; }
};

/// Whether the launch may have blocks of that size.
bool canHave(const Study& found, std::int64_t threads) {
    return !found.keepsThreads || found.threads() % threads == 0;
}

/// Whether the kernel asks only for its threads' numbers in the grid, along x, and its threads do
/// not communicate.
bool numbersThreads(const SkillContext& context) {
    const auto position = rowPosition(context);
    return position && requireThreadsApart(context) && context.shared().nest().frames.size() == 1 &&
           std::ranges::none_of(context.kernel.body.exprs,
                                [](const Expr& expr) {
                                    return expr.kind == ExprKind::BuiltinIndex && expr.axis != 0;
                                }) &&
           std::ranges::all_of(position->widths, [&](ExprId width) {
               return context.kernel.body.expr(width).kind == ExprKind::BuiltinIndex;
           });
}

/// Sets the axes along which a search may change the block. `unsized` is the reason why the text
/// alone chooses no size.
Gated<void> allowShapes(const SkillContext& context, Study& found, Refusal unsized) {
    KERNELSKILL_TRY(found.axes, gridAxes(context));
    found.unsized = std::move(unsized);
    return {};
}

Gated<Study> study(const SkillContext& context) {
    const KernelModel& kernel = context.kernel;
    KERNELSKILL_CHECK(requireEditable(context));
    Study found;
    const Gated<void> any = requireAnyBlock(context);
    if (!any && !numbersThreads(context) && !allowShapes(context, found, any.error()))
        return std::unexpected(any.error());
    found.keepsThreads = !any;
    KERNELSKILL_CHECK(requireResizableGrids(context));
    KERNELSKILL_TRY(const auto blocks, launchedBlocks(context));
    found.block = blocks.front();
    std::optional<std::int64_t> most = 0; ///< Blocks; nullopt once a launch does not tell.
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const LaunchSite& launch = kernel.launches[i];
        const Extents& block = blocks[i];
        if (block != found.block)
            return refuse("blocks-differ",
                          fmt::format("the launch on line {} has blocks of {} x {} x {} threads",
                                      lineNumber(context, launch.span.begin), block[0], block[1],
                                      block[2]));
        KERNELSKILL_CHECK(blockEdit(context, launch, block));
        const auto count = TunedLaunch(context, launch).blocks();
        most = most && count ? std::optional(std::max(*most, *count)) : std::nullopt;
    }
    if (found.block[1] > 1 || found.block[2] > 1) {
        KERNELSKILL_CHECK(allowShapes(
            context, found,
            Refusal{"several-axes", fmt::format("the block of {} has more than one axis, and which "
                                                "shape is best only a measurement tells",
                                                kernel.name)}));
    }
    if (found.axes)
        return found;
    found.better = betterBlock(found.threads(), most);
    if (found.better && !canHave(found, found.better->threads))
        return std::unexpected(any.error());
    return found;
}

class LaunchTuningSkill : public VariedSkill<Study, BlockSize> {
    Gated<Study> plan(const SkillContext& context) const override { return study(context); }

    Gated<std::vector<Offer>> offers(const SkillContext& context,
                                     const Study& found) const override {
        if (found.axes)
            return found.threads() < warpLanes ? wholeWarps(context, found)
                                               : std::unexpected(found.unsized);
        if (!found.better)
            return refuse("block-fits",
                          fmt::format("blocks of {} threads fill their warps and a multiprocessor, "
                                      "and there are enough of them as far as is known",
                                      found.threads()));
        if (found.better->threads > mostThreads(context))
            return refuse("launch-bounds",
                          fmt::format("{} was compiled for blocks of at most {} threads",
                                      context.kernel.name, mostThreads(context)));
        std::vector<Offer> offers{
            offerOf(context, {found.better->threads, 1, 1}, found.better->why)};
        offers.front().gain = ExpectedGain{found.better->factor, found.better->basis};
        for (const std::int64_t threads : otherBlocks(found.threads(), found.better->threads))
            if (threads <= mostThreads(context) && canHave(found, threads))
                offers.push_back(offerOf(context, {threads, 1, 1}, found.better->why));
        return offers;
    }

    /// The nearest sizes: only a measurement tells whether one is better.
    Gated<std::vector<Offer>> trials(const SkillContext& context,
                                     const Study& found) const override {
        if (found.axes)
            return shapedTrials(context, found);
        constexpr std::size_t most = 3;
        std::vector<Offer> offers;
        for (const std::int64_t threads : otherBlocks(found.threads(), found.threads()))
            if (offers.size() < most && canHave(found, threads) && threads <= mostThreads(context))
                offers.push_back(offerOf(context, {threads, 1, 1}, whyOther(found)));
        return offers;
    }

    GatedEdits editsFor(const SkillContext& context, const Study& found,
                        BlockSize size) const override {
        const Extents to = extentsOf(size);
        if (found.axes)
            return shapedLaunches(context, *found.axes, found.block, to);
        if (const auto axes = gridAxes(context))
            if (auto edits = editsOfDefinitions(context, *axes, found.block, to))
                return std::move(*edits);
        std::vector<TextEdit> edits;
        for (const LaunchSite& launch : context.kernel.launches) {
            KERNELSKILL_TRY(
                const std::vector<TextEdit> tuned,
                TunedLaunch(context, launch).edits(found.threads(), to[0], found.keepsThreads));
            edits.insert(edits.end(), tuned.begin(), tuned.end());
        }
        return edits;
    }

    /// Shapes of several warps for a block that does not even fill one: any of them is better, and
    /// only a measurement tells which is best.
    Gated<std::vector<Offer>> wholeWarps(const SkillContext& context, const Study& found) const {
        constexpr std::int64_t fewThreads = 128;
        const GridAxes& axes = *found.axes;
        std::vector<Offer> offers;
        for (const Extents& shape :
             blockShapes(found.block, {axes[0].isFree, axes[1].isFree, axes[2].isFree},
                         mostThreads(context))) {
            const std::int64_t threads = shape[0] * shape[1] * shape[2];
            if (threads < fewThreads || !canTakeShape(context, axes, found.block, shape))
                continue;
            offers.push_back(offerOf(
                context, shape,
                fmt::format("a block of {} has {} threads, and the other {} lanes of its warp have "
                            "nothing to do",
                            described(found.block), found.threads(), warpLanes - found.threads())));
            offers.back().gain =
                ExpectedGain{static_cast<double>(warpLanes) / static_cast<double>(found.threads()),
                             "lanes of whole warps over those used"};
        }
        if (offers.empty())
            return std::unexpected(found.unsized);
        return offers;
    }

    Gated<std::vector<Offer>> shapedTrials(const SkillContext& context, const Study& found) const {
        constexpr std::size_t most = 5;
        const GridAxes& axes = *found.axes;
        std::vector<Offer> offers;
        for (const Extents& shape :
             blockShapes(found.block, {axes[0].isFree, axes[1].isFree, axes[2].isFree},
                         mostThreads(context)))
            if (offers.size() < most && canTakeShape(context, axes, found.block, shape))
                offers.push_back(offerOf(context, shape, whyOther(found)));
        return offers;
    }

    static std::int64_t mostThreads(const SkillContext& context) {
        return std::min(maxBlockThreads,
                        context.kernel.launchBoundsThreads.value_or(maxBlockThreads));
    }
    static std::string whyOther(const Study& found) {
        return fmt::format("blocks of {} threads are not the only ones", described(found.block));
    }

    Offer offerOf(const SkillContext& context, const Extents& block, std::string why) const {
        Offer offer = newOffer(context, context.kernel.nameSpan, sizeOf(block));
        offer.title = fmt::format("Launch {} with blocks of {} threads", context.kernel.name,
                                  described(block));
        offer.why = std::move(why);
        return offer;
    }
};

} // namespace

KERNELSKILL_SKILL(LaunchTuningSkill)

} // namespace kernelskill::skills
