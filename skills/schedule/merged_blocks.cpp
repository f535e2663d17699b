#include "skills/schedule/merged_blocks.h"

#include "analysis/compile/data_centre_gpu.h"
#include "analysis/compile/occupancy.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/queries/launch_values.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"
#include "skills/editing/block_count.h"
#include "skills/editing/grid_size.h"
#include "skills/gates/callees.h"
#include "skills/gates/separate_blocks.h"
#include "skills/gates/thread_position.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// `blockIdx.x * 4 + part` in a loop of four rounds over `part`.
bool isPartOfSeveral(const SkillContext& context, ExprId position) {
    const CodeMap& code = context.code();
    const FunctionBody& body = code.body();
    const ExprId product = code.parent(position);
    const ExprId sum = product == noId ? noId : code.parent(product);
    if (sum == noId || body.expr(product).op != "*" || body.expr(sum).op != "+")
        return false;
    const auto count = code.constantValue(body.expr(product).children[1]);
    const VariableId part = code.namedVariable(body.expr(sum).children[1]);
    return count && part != noId &&
           std::ranges::any_of(context.kernel.loops, [&](const Loop& loop) {
               return loop.inductionVariable == part && loop.tripCount == *count;
           });
}

Gated<void> findAxis(const SkillContext& context, MergedBlocks& found) {
    const KernelModel& kernel = context.kernel;
    KERNELSKILL_TRY(const auto positions, editableBlockPositions(context));
    const auto asks = [&](std::uint8_t axis) {
        return std::ranges::any_of(positions,
                                   [&](ExprId id) { return kernel.body.expr(id).axis == axis; });
    };
    if (positions.empty())
        return refuse("same-blocks", fmt::format("all blocks of {} do the same", kernel.name));
    if (!asks(0) && !asks(1))
        return refuse("grid-axes",
                      fmt::format("{} tells its blocks apart by z alone", kernel.name));
    found.axis = asks(0) ? 0 : 1;
    if (std::ranges::all_of(positions, [&](ExprId id) {
            return kernel.body.expr(id).axis != found.axis || isPartOfSeveral(context, id);
        }))
        return refuse("has-parts",
                      fmt::format("a block of {} does the work of several already", kernel.name));
    std::ranges::copy_if(positions, std::back_inserter(found.blocks),
                         [&](ExprId id) { return kernel.body.expr(id).axis == found.axis; });
    return {};
}

Gated<void> requireOwnBlocks(const SkillContext& context) {
    KERNELSKILL_CHECK(requireSeparateBlocks(context));
    const auto shares = [](const KernelModel& function) {
        return !function.sharedArrays.empty() || !function.barriers.empty();
    };
    if (const auto name = calleeThat(context, shares))
        return refuse("callee-shares",
                      fmt::format("{} may use shared memory of its own or a barrier", *name));
    return requireCalleesWithoutGrid(context);
}

/// Finds the places that ask how many blocks there are; all of them have to be seen.
Gated<void> findGrids(const SkillContext& context, MergedBlocks& found) {
    const KernelModel& kernel = context.kernel;
    const auto hidden = [&] {
        return refuse("uses-grid",
                      fmt::format("{} asks how many blocks there are where it cannot be followed",
                                  kernel.name));
    };
    std::ptrdiff_t seen = 0;
    for (ExprId id = 0; id < kernel.body.exprs.size(); ++id) {
        const Expr& expr = kernel.body.expr(id);
        if (expr.name != "gridDim")
            continue;
        if (expr.kind != ExprKind::BuiltinIndex || expr.fromMacro)
            return hidden();
        ++seen;
        if (expr.axis == found.axis)
            found.grids.push_back(id);
    }
    const std::vector<Token> tokens = lex(context.file.source->text(), kernel.bodySpan);
    if (std::ranges::count(tokens, std::string_view("gridDim"), &Token::text) != seen)
        return hidden();
    return {};
}

Gated<int> blocksInSharedMemory(const KernelModel& kernel, const MergeLimits& limits) {
    constexpr std::uint64_t limit = MultiprocessorLimits::staticSharedBytesPerBlock;
    std::uint64_t bytes = 0;
    for (const SharedArray& array : kernel.sharedArrays)
        bytes += array.bytes;
    int most = limits.most;
    while (most > 1 && bytes * static_cast<std::uint64_t>(most) > limit)
        most /= 2;
    if (most < limits.least)
        return refuse("too-much-shared-memory",
                      fmt::format("{} declares {} bytes of shared memory, and can declare {}",
                                  kernel.name, bytes, limit));
    return most;
}

} // namespace

Gated<MergedBlocks> mergedBlocks(const SkillContext& context) {
    MergedBlocks found;
    KERNELSKILL_CHECK(findAxis(context, found));
    KERNELSKILL_CHECK(requireOwnBlocks(context));
    KERNELSKILL_CHECK(findGrids(context, found));
    return found;
}

Gated<int> blocksToMerge(const SkillContext& context, const MergedBlocks& merged,
                         const MergeLimits& limits) {
    KERNELSKILL_TRY(int most, blocksInSharedMemory(context.kernel, limits));
    KERNELSKILL_CHECK(requirePassableGrids(context));
    for (const LaunchSite& launch : context.kernel.launches) {
        const CodeMap& host = context.shared().host(launch.host);
        if (launch.sharedBytes != noId && host.constantValue(launch.sharedBytes) != 0)
            return refuse("dynamic-shared-memory",
                          fmt::format("the launch on {} gives a block shared memory, which parts "
                                      "would have in common",
                                      placeOf(context, launch)));
        const Expr& grid = context.file.hostFunctions[launch.host].body.expr(launch.grid);
        if (merged.axis != 0 && !isDim3Name(grid) &&
            (grid.kind != ExprKind::InitList || grid.children.size() <= merged.axis))
            return refuse("launch-grid", fmt::format("the launch on {} names no blocks along y",
                                                     placeOf(context, launch)));
        const LaunchValues values(context.shared(), launch);
        std::int64_t blocks = 1;
        for (const auto extent : values.grid())
            blocks *= extent.value_or(0);
        std::int64_t threads = 1;
        for (const auto extent : values.block())
            threads *= extent.value_or(0);
        if (blocks <= 0 || threads <= 0)
            continue;
        const std::int64_t resident = DataCentreGpu::multiprocessors * residentBlocksOf(threads);
        const std::int64_t alongAxis = *values.grid()[merged.axis];
        const double needed = limits.occupied * static_cast<double>(resident);
        while (most > 1 && (static_cast<double>(blocks) < needed * most || alongAxis < most))
            most /= 2;
        if (most < limits.least)
            return refuse("few-blocks",
                          fmt::format("a large GPU holds {} blocks of {} threads at once, and the "
                                      "launch on {} has {}",
                                      resident, threads, placeOf(context, launch), blocks));
    }
    return most;
}

std::vector<TextEdit> mergedLaunches(const SkillContext& context, const MergedBlocks& merged,
                                     int count, const std::string& blocks) {
    std::vector<TextEdit> edits = passedBlockCounts(context, {{merged.axis, blocks}});
    for (const LaunchSite& launch : context.kernel.launches) {
        std::array<int, 3> divisors{1, 1, 1};
        divisors[merged.axis] = count;
        std::ranges::copy(dividedGridAxes(context, launch, divisors), std::back_inserter(edits));
    }
    return edits;
}

} // namespace kernelskill::skills
