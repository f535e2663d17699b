#include "skills/launch-tuning/launch-tuning.h"

#include "skills/launch-tuning/block_choice.h"
#include "skills/rewriting/elementwise_kernel.h"
#include "skills/rewriting/gates.h"
#include "skills/rewriting/grid_size.h"
#include "skills/rewriting/launch_sites.h"
#include "skills/rewriting/shared_analysis.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view skillId = "launch-tuning";
/// Of a block, by the hardware.
constexpr std::int64_t mostThreads = 1024;

/// The kernel does the same whatever the number of threads in a block.
std::expected<void, Refusal> requireAnyBlock(const SkillContext& context) {
    const CodeMap& code = context.shared().code();
    const std::vector<GridStrideLoop> loops = findGridStrideLoops(context.kernel, code);
    if (loops.empty()) {
        const auto elementwise = recogniseElementwise(context, code);
        if (!elementwise)
            return std::unexpected(elementwise.error());
        return {};
    }
    const Loop& loop = context.kernel.loops[loops.front().loop];
    const bool isAll = std::ranges::all_of(context.kernel.body.exprs, [&](const Expr& expr) {
        return expr.kind != ExprKind::BuiltinIndex ||
               context.kernel.body.stmt(loop.statement).span.contains(expr.span);
    });
    if (loops.size() > 1 || !isAll)
        return refuse("uses-thread-position",
                      fmt::format("{} uses the position of a thread beside its grid-stride loop",
                                  context.kernel.name));
    return requireIndependentWork(context, code, code.statementsOf(loop.body));
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

    /// Edits that give the block `threads` instead of `old` threads, and the grid as many blocks as
    /// cover the same threads.
    [[nodiscard]] std::vector<TextEdit> edits(std::int64_t old, std::int64_t threads) const {
        std::vector<TextEdit> edits = gridEdits(old, threads);
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
        const auto guarded = recogniseElementwise(context_, context_.shared().code());
        if (!guarded)
            return true; // a grid-stride loop, for which any grid will do
        const VariableId limit = context_.shared().code().namedVariable(guarded->limit);
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
    BlockChoice choice;
};

std::expected<Study, Refusal> study(const SkillContext& context) {
    const KernelModel& kernel = context.kernel;
    if (auto editable = requireEditable(context); !editable)
        return std::unexpected(editable.error());
    if (auto any = requireAnyBlock(context); !any)
        return std::unexpected(any.error());
    if (auto resizable = requireResizableGrids(context); !resizable)
        return std::unexpected(resizable.error());
    const auto blocks = launchedBlocks(context);
    if (!blocks)
        return std::unexpected(blocks.error());
    Study found;
    found.threads = blocks->front()[0];
    std::optional<std::int64_t> most = 0; ///< Blocks; nullopt once a launch does not tell.
    for (std::size_t i = 0; i < blocks->size(); ++i) {
        const LaunchSite& launch = kernel.launches[i];
        const std::uint32_t line = lineNumber(context, launch.span.begin);
        const Extents& block = (*blocks)[i];
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
    const auto choice = betterBlock(found.threads, most);
    if (!choice)
        return refuse("block-fits",
                      fmt::format("blocks of {} threads fill their warps and a multiprocessor, and "
                                  "there are enough of them as far as is known",
                                  found.threads));
    if (choice->threads > kernel.launchBoundsThreads.value_or(mostThreads))
        return refuse("launch-bounds",
                      fmt::format("{} was compiled for blocks of at most {} threads", kernel.name,
                                  *kernel.launchBoundsThreads));
    found.choice = *choice;
    return found;
}

class LaunchTuning final : public Skill {
public:
    [[nodiscard]] std::string_view id() const override { return skillId; }

    [[nodiscard]] std::expected<Offer, Refusal>
    prepare(const SkillContext& context) const override {
        const auto found = study(context);
        if (!found)
            return std::unexpected(found.error());
        Offer offer = offerOf(context, *found, found->choice.threads);
        offer.gain = ExpectedGain{found->choice.factor, found->choice.basis};
        return offer;
    }

    [[nodiscard]] std::vector<Offer> alternatives(const SkillContext& context) const override {
        const auto found = study(context);
        std::vector<Offer> offers;
        if (!found)
            return offers;
        for (const std::int64_t threads : otherBlocks(found->threads, found->choice.threads))
            if (threads <= context.kernel.launchBoundsThreads.value_or(mostThreads))
                offers.push_back(offerOf(context, *found, threads));
        return offers;
    }

    [[nodiscard]] Result<EditSet> apply(const SkillContext& context,
                                        const Offer& offer) const override {
        const auto found = study(context);
        if (!found)
            return std::unexpected(unsupported(context, found.error()));
        std::vector<TextEdit> edits;
        for (const LaunchSite& launch : context.kernel.launches) {
            const std::vector<TextEdit> tuned =
                TunedLaunch(context, launch).edits(found->threads, offer.option);
            edits.insert(edits.end(), tuned.begin(), tuned.end());
        }
        return EditSet{{context.kernel.file, std::move(edits)}};
    }

private:
    static Offer offerOf(const SkillContext& context, const Study& found, std::int64_t threads) {
        Offer offer;
        offer.skillId = skillId;
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = context.kernel.nameSpan;
        offer.title =
            fmt::format("Launch {} with blocks of {} threads", context.kernel.name, threads);
        offer.why = found.choice.why;
        offer.option = static_cast<int>(threads);
        offer.numerics = Numerics::Exact;
        return offer;
    }
};

} // namespace

std::unique_ptr<Skill> makeLaunchTuning() {
    return std::make_unique<LaunchTuning>();
}

} // namespace kernelskill::skills
