#include "analysis/queries/code_map.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/coalesced-access/coalescing_rewrite.h"
#include "skills/gates/launch_sites.h"
#include "skills/gates/thread_position.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <ranges>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The hardware's limit on the blocks of a grid along y.
constexpr std::int64_t maxGridY = 65535;

/// A square block whose warps are full, for the question what exchanged axes could save.
constexpr Extents wholeWarps{16, 16, 1};

/// The threads of such a square block are one warp, in which no order touches fewer sectors.
bool isBelowAWarp(const Extents& block) {
    return block[0] == block[1] && block[0] * block[1] * block[2] <= warpLanes;
}

/// The warps of a block with x and y exchanged, in terms of the kernel as it is.
LaneSymbols exchangedLanes(const Extents& block) {
    const LaneSymbols lanes = lanesOfBlock({block[1], block[0], block[2]});
    return [lanes](int lane) {
        std::map<Symbol, std::int64_t> values = lanes(lane);
        std::swap(values[{SymbolKind::ThreadIdx, 0}], values[{SymbolKind::ThreadIdx, 1}]);
        std::swap(values[{SymbolKind::BlockDim, 0}], values[{SymbolKind::BlockDim, 1}]);
        return values;
    };
}

/// Edits that exchange x and y of a grid or block in a launch. nullopt when its text does not show
/// how.
std::optional<std::vector<TextEdit>> exchangedExtents(const SkillContext& context,
                                                      const LaunchSite& launch, ExprId id) {
    const CodeMap& host = context.shared().host(launch.host);
    const SourceText& source = *context.file.source;
    const Extents extents = *constantExtents(host, id);
    if (extents[0] == extents[1])
        return std::vector<TextEdit>{};
    const Expr& expr = host.body().expr(id);
    if (expr.fromMacro || !launch.configurationSpan.contains(expr.span))
        return std::nullopt;
    if (expr.kind == ExprKind::Variable && expr.variable != noId) {
        const std::string& name = host.body().variable(expr.variable).name;
        const std::string z = extents[2] == 1 ? "" : fmt::format(", {}.z", name);
        return std::vector<TextEdit>{{expr.span, fmt::format("dim3({0}.y, {0}.x{1})", name, z)}};
    }
    if (expr.children.size() < 2 || expr.kind == ExprKind::Variable)
        return std::nullopt;
    const Span x = host.body().expr(expr.children[0]).span;
    const Span y = host.body().expr(expr.children[1]).span;
    return std::vector<TextEdit>{{x, std::string(source.slice(y))},
                                 {y, std::string(source.slice(x))}};
}

class AxisExchange {
public:
    explicit AxisExchange(const SkillContext& context)
        : context_(context), body_(context.kernel.body) {}

    FoundRewrite find() {
        if (!usesThread(body_, 0) || !usesThread(body_, 1))
            return refuse("other-shape", "the kernel does not tell threads apart along x and y");
        if (!context_.kernel.sharedArrays.empty())
            return refuse("other-shape", "the kernel stages in shared memory already");
        KERNELSKILL_TRY(auto blocks, launchedBlocks(context_));
        CoalescingRewrite rewrite;
        rewrite.needsWiderBlock = std::ranges::all_of(blocks, isBelowAWarp);
        for (const Extents& launched : blocks | std::views::reverse) {
            const Extents& block = rewrite.needsWiderBlock ? wholeWarps : launched;
            rewrite.before = warpTraffic(context_, lanesOfBlock(block));
            rewrite.after = warpTraffic(context_, exchangedLanes(block));
            if (rewrite.after.sectors >= rewrite.before.sectors)
                return refuse("other-shape", "lanes along y would touch no fewer sectors");
        }
        KERNELSKILL_CHECK(requireFollowableLaunches(context_));
        KERNELSKILL_TRY(const auto positions, editablePositions(context_));
        const bool exchangesGrid = canExchangeGrids();
        for (const ExprId id : positions) {
            const Expr& expr = body_.expr(id);
            const bool isOfGrid = expr.name == "blockIdx" || expr.name == "gridDim";
            if (expr.axis > 1 || (isOfGrid && !exchangesGrid))
                continue;
            rewrite.edits.push_back(
                {{expr.span.end - 1, expr.span.end}, expr.axis == 0 ? "y" : "x"});
        }
        for (const LaunchSite& launch : context_.kernel.launches) {
            auto block = exchangedExtents(context_, launch, launch.block);
            auto grid = exchangesGrid ? exchangedExtents(context_, launch, launch.grid)
                                      : std::vector<TextEdit>{};
            if (!block || !grid)
                return refuse("launch-block",
                              fmt::format("the launch on line {} does not show x and y of its grid "
                                          "and block",
                                          lineNumber(context_, launch.span.begin)));
            rewrite.edits.insert(rewrite.edits.end(), grid->begin(), grid->end());
            rewrite.edits.insert(rewrite.edits.end(), block->begin(), block->end());
        }
        rewrite.anchor = context_.kernel.bodySpan;
        rewrite.title = fmt::format("Exchange x and y in {}, so that lanes run along rows",
                                    context_.kernel.name);
        rewrite.why = describe(rewrite.needsWiderBlock ? wholeWarps : blocks.front(), rewrite);
        return rewrite;
    }

private:
    /// Without a known grid, y could become too large for the hardware: then blocks stay where they
    /// are, and only the threads in them change places.
    [[nodiscard]] bool canExchangeGrids() const {
        return std::ranges::all_of(context_.kernel.launches, [&](const LaunchSite& launch) {
            const auto grid = constantExtents(context_.shared().host(launch.host), launch.grid);
            return grid && (*grid)[0] <= maxGridY &&
                   exchangedExtents(context_, launch, launch.grid).has_value();
        });
    }

    [[nodiscard]] std::string describe(const Extents& block,
                                       const CoalescingRewrite& rewrite) const {
        std::string example;
        for (const AccessFeatures& access : context_.features.accesses)
            if (example.empty() && access.sectorsPerRequest.value_or(0) >= 8)
                example = fmt::format(
                    " (line {})",
                    lineNumber(
                        context_,
                        body_.expr(context_.kernel.accesses[access.access].expression).span.begin));
        return fmt::format("threadIdx.x runs along the slow index{}: with {} x {} threads a warp "
                           "touches {:.0f} sectors, and {:.0f} with x and y exchanged",
                           example, block[0], block[1], rewrite.before.sectors,
                           rewrite.after.sectors);
    }

    const SkillContext& context_;
    const FunctionBody& body_;
};

} // namespace

FoundRewrite exchangeAxes(const SkillContext& context) {
    return AxisExchange(context).find();
}

} // namespace kernelskill::skills
