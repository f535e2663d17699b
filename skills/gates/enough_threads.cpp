#include "skills/gates/enough_threads.h"

#include "analysis/compile/data_centre_gpu.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/queries/launch_values.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

#include <array>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// With fewer blocks, some multiprocessors of a data-centre GPU have none, or fewer than others.
/// Used if the size of the blocks is not known.
constexpr std::int64_t fewestBlocks = 256;
/// The threads that a data-centre GPU holds at once. With fewer, missing threads cost more than
/// saved loads gain.
constexpr std::int64_t wantedThreads =
    DataCentreGpu::multiprocessors * DataCentreGpu::residentThreads;

/// Returns the number of threads in a block; 0 if it is not known.
std::int64_t threadsOf(const KnownExtents& block) {
    std::int64_t threads = 1;
    for (const auto extent : block)
        threads *= extent.value_or(0);
    return threads;
}

bool namesAxis(const Expr& grid, std::uint8_t axis) {
    return axis == 0 || isDim3Name(grid) ||
           (grid.kind == ExprKind::InitList && grid.children.size() > axis);
}

} // namespace

Gated<int> pointsOfAThread(const SkillContext& context, std::uint8_t axis, int max) {
    constexpr std::array names{'x', 'y', 'z'};
    KERNELSKILL_CHECK(requireResizableGrids(context));
    for (const LaunchSite& launch : context.kernel.launches) {
        const std::uint32_t line = lineNumber(context, launch.span.begin);
        const FunctionBody& host = context.file.hostFunctions[launch.host].body;
        if (!namesAxis(host.expr(launch.grid), axis))
            return refuse("launch-grid", fmt::format("the launch on line {} names no blocks along "
                                                     "{}",
                                                     line, names[axis]));
        const LaunchValues values(context.shared(), launch);
        const KnownExtents& grid = values.grid();
        if (!grid[0] || !grid[1] || !grid[2])
            continue;
        const std::int64_t threads = threadsOf(values.block());
        const auto isEnough = [&](int points) {
            std::int64_t blocks =
                *grid[0] * *grid[1] * *grid[2] / std::max<std::int64_t>(1, *grid[axis]);
            blocks *= (*grid[axis] + points - 1) / points;
            return threads > 0 ? blocks * threads >= wantedThreads : blocks >= fewestBlocks;
        };
        while (max > 1 && !isEnough(max))
            max /= 2;
        if (max < 2)
            return refuse("too-few-blocks",
                          fmt::format("the {} x {} x {} blocks{} of the launch on line {} are too "
                                      "few to be halved",
                                      *grid[0], *grid[1], *grid[2],
                                      threads > 0 ? fmt::format(" of {} threads", threads) : "",
                                      line));
    }
    return max;
}

} // namespace kernelskill::skills
