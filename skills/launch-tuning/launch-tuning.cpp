/// Chooses another block size where the launch wastes lanes, warps or multiprocessors.
#include "analysis/queries/launch_extents.h"
#include "skills/base/planned_skill.h"
#include "skills/editing/grid_size.h"
#include "skills/gates/any_block.h"
#include "skills/gates/block_choice.h"
#include "skills/gates/elementwise_kernel.h"
#include "skills/gates/launch_sites.h"
#include "skills/schedule/row_position.h"
#include "skills/schedule/threads_apart.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The hardware's limit on the threads of a block.
constexpr std::int64_t maxThreads = 1024;

/// How many threads a block is to have.
enum class BlockSize : int {};

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

    /// Edits that give the block `threads` instead of `old` threads, and the grid as many blocks as
    /// cover the same threads.
    /// `keepsThreads`: as many threads to the last one; `threads` divides `old`.
    [[nodiscard]] std::vector<TextEdit> edits(std::int64_t old, std::int64_t threads,
                                              bool keepsThreads) const {
        std::vector<TextEdit> edits =
            keepsThreads
                ? std::vector{multipliedGrid(context_, launch_, static_cast<int>(old / threads))}
                : gridEdits(old, threads);
        const Expr& block = expr(launch_.block);
        const bool isList = block.kind == ExprKind::InitList && !block.children.empty();
        const ExprId extent = isList ? block.children[0] : launch_.block;
        edits.push_back({expr(extent).span, std::to_string(threads)});
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
    std::int64_t threads = 0; ///< As launched.
    /// The grid has to keep its number of threads, since no check of the kernel is known to keep
    /// further ones from work.
    bool keepsThreads = false;
    std::optional<BlockChoice> better; ///< nullopt if nothing speaks against the block as it is.
};

/// Blocks of that size can cover what blocks cover now.
bool canHave(const Study& found, std::int64_t threads) {
    return !found.keepsThreads || found.threads % threads == 0;
}

/// The kernel asks for nothing but its threads' numbers in the grid, and threads take no notice of
/// each other.
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

Gated<Study> study(const SkillContext& context) {
    const KernelModel& kernel = context.kernel;
    KERNELSKILL_CHECK(requireEditable(context));
    Study found;
    const Gated<void> any = requireAnyBlock(context);
    if (!any && !numbersThreads(context))
        return std::unexpected(any.error());
    found.keepsThreads = !any;
    KERNELSKILL_CHECK(requireResizableGrids(context));
    KERNELSKILL_TRY(const auto blocks, launchedBlocks(context));
    found.threads = blocks.front()[0];
    std::optional<std::int64_t> most = 0; ///< Blocks; nullopt once a launch does not tell.
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const LaunchSite& launch = kernel.launches[i];
        const std::uint32_t line = lineNumber(context, launch.span.begin);
        const Extents& block = blocks[i];
        if (block != Extents{found.threads, 1, 1})
            return refuse("blocks-differ",
                          fmt::format("the launch on line {} has blocks of {} x {} x {} threads",
                                      line, block[0], block[1], block[2]));
        const Expr& written = context.file.hostFunctions[launch.host].body.expr(launch.block);
        if (written.fromMacro || !launch.configurationSpan.contains(written.span))
            return refuse(
                "launch-block",
                fmt::format("the block of the launch on line {} comes out of a macro", line));
        const auto count = TunedLaunch(context, launch).blocks();
        most = most && count ? std::optional(std::max(*most, *count)) : std::nullopt;
    }
    found.better = betterBlock(found.threads, most);
    if (found.better && !canHave(found, found.better->threads))
        return std::unexpected(any.error());
    return found;
}

class LaunchTuningSkill : public VariedSkill<Study, BlockSize> {
    Gated<Study> plan(const SkillContext& context) const override { return study(context); }

    Gated<std::vector<Offer>> offers(const SkillContext& context,
                                     const Study& found) const override {
        const std::int64_t most = context.kernel.launchBoundsThreads.value_or(maxThreads);
        if (!found.better)
            return refuse("block-fits",
                          fmt::format("blocks of {} threads fill their warps and a multiprocessor, "
                                      "and there are enough of them as far as is known",
                                      found.threads));
        if (found.better->threads > most)
            return refuse("launch-bounds",
                          fmt::format("{} was compiled for blocks of at most {} threads",
                                      context.kernel.name, most));
        std::vector<Offer> offers{offerOf(context, found.better->threads, found.better->why)};
        offers.front().gain = ExpectedGain{found.better->factor, found.better->basis};
        for (const std::int64_t threads : otherBlocks(found.threads, found.better->threads))
            if (threads <= most && canHave(found, threads))
                offers.push_back(offerOf(context, threads, found.better->why));
        return offers;
    }

    /// The nearest sizes: each may be better, which nothing in the text tells.
    Gated<std::vector<Offer>> trials(const SkillContext& context,
                                     const Study& found) const override {
        constexpr std::size_t most = 3;
        std::vector<Offer> offers;
        for (const std::int64_t threads : otherBlocks(found.threads, found.threads))
            if (offers.size() < most && canHave(found, threads) &&
                threads <= context.kernel.launchBoundsThreads.value_or(maxThreads))
                offers.push_back(offerOf(
                    context, threads,
                    fmt::format("blocks of {} threads are not the only ones", found.threads)));
        return offers;
    }

    GatedEdits editsFor(const SkillContext& context, const Study& found,
                        BlockSize threads) const override {
        std::vector<TextEdit> edits;
        for (const LaunchSite& launch : context.kernel.launches) {
            const std::vector<TextEdit> tuned =
                TunedLaunch(context, launch)
                    .edits(found.threads, static_cast<int>(threads), found.keepsThreads);
            edits.insert(edits.end(), tuned.begin(), tuned.end());
        }
        return edits;
    }

    Offer offerOf(const SkillContext& context, std::int64_t threads, std::string why) const {
        Offer offer =
            newOffer(context, context.kernel.nameSpan, BlockSize{static_cast<int>(threads)});
        offer.title =
            fmt::format("Launch {} with blocks of {} threads", context.kernel.name, threads);
        offer.why = std::move(why);
        return offer;
    }
};

} // namespace

KERNELSKILL_SKILL(LaunchTuningSkill)

} // namespace kernelskill::skills
