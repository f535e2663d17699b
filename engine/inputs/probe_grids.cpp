/// Probes of other grids and blocks.
#include "analysis/source/gpu_constants.h"
#include "engine/inputs/block_work.h"
#include "engine/inputs/launch_pair.h"
#include "engine/inputs/other_blocks.h"
#include "engine/inputs/probe_planner.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::warpLanes;

} // namespace

/// True if a probe has a grid that the edited grid's blocks do not share equally; where these are
/// not fewer, one of another size than the base's.
bool ProbePlanner::hasUnequalShares(std::uint32_t Dim3::* axis) const {
    const std::uint32_t blocks = base_.original.grid.*axis;
    const std::uint32_t share = blocks / base_.candidate.grid.*axis;
    return std::ranges::any_of(plan_.probes, [&](const Trial& probe) {
        const std::uint32_t present = probe.original.grid.*axis;
        return share > 0 ? present != share * probe.candidate.grid.*axis : present != blocks;
    });
}

/// Fewer blocks than a guessed launch has, where the edited launch follows: an edit that gathers
/// blocks may treat what is left of a grid differently. Where the grid follows from sizes, these
/// show it, and fewer blocks would not fit them.
void ProbePlanner::addFewerBlocks() {
    if (!follower_ || !addsIntegers(original_.kernel, candidate_.kernel) ||
        base_.original.origin != LaunchOrigin::Guessed)
        return;
    for (std::uint32_t Dim3::* axis : {&Dim3::x, &Dim3::y}) {
        const bool staysAsItIs = base_.original.grid.*axis == base_.candidate.grid.*axis;
        if (base_.original.grid.*axis < 2 || staysAsItIs || hasUnequalShares(axis))
            continue;
        LaunchSpec original = base_.original;
        original.grid.*axis -= 1;
        const auto followed = follower_->of(original);
        if (!followed)
            continue;
        add(std::move(original), withShapeOf(base_.candidate, *followed));
        plan_.probes.back().label += ", one block less";
    }
}

/// Adds a probe for each extent, with as many elements as the launch has threads, where the edit
/// changes a guessed grid. A guessed launch has more threads than elements, so that without these
/// probes an edit that launches too few threads passes.
void ProbePlanner::addFilledGrids() {
    if (base_.original.origin != LaunchOrigin::Guessed || hasSameShape())
        return;
    const LaunchSpec launch = sizes_.at(baseExtents_).value_or(statedOriginal_);
    const std::int64_t threads = static_cast<std::int64_t>(launch.grid.x) * launch.block.x;
    for (const auto& [extent, value] : baseExtents_) {
        Extents wanted = baseExtents_;
        wanted[extent] = threads;
        auto original = value == threads ? std::nullopt : sizes_.at(wanted);
        if (!original || original->grid != launch.grid || original->block != launch.block)
            continue;
        auto candidate = candidateAt(*original, wanted);
        if (!candidate)
            continue;
        add(*std::move(original), *std::move(candidate));
        plan_.probes.back().label += ", as many as threads";
    }
}

void ProbePlanner::addGrids() {
    addFilledGrids();
    if (base_.original.origin == LaunchOrigin::Guessed && follower_ && follower_->changesCount())
        plan_.unvaried.emplace_back("the grid: what the host's function makes of another number is "
                                    "not evaluated, and taken to be in proportion");
    if (!hasSameShape()) {
        addFewerBlocks();
        return;
    }
    // Fewer would leave work undone that a loop over the grid does, unless both have one.
    if (loopsOverGrid(original_.kernel) && loopsOverGrid(candidate_.kernel)) {
        for (const std::uint32_t fewer : {6u, 3u}) {
            if (fewer >= base_.original.grid.x)
                continue;
            LaunchSpec original = base_.original;
            LaunchSpec candidate = base_.candidate;
            original.grid.x = candidate.grid.x = fewer;
            add(std::move(original), std::move(candidate));
            plan_.probes.back().label += fmt::format(", only {} blocks", fewer);
        }
    }
    for (const std::uint32_t more : {1u, 3u}) {
        LaunchSpec original = base_.original;
        LaunchSpec candidate = base_.candidate;
        original.grid.x = candidate.grid.x = base_.original.grid.x + more;
        add(std::move(original), std::move(candidate));
        plan_.probes.back().label += fmt::format(", {} blocks more than needed", more);
    }
    plan_.varied.emplace_back("the number of blocks");
}

void ProbePlanner::addBlocks() {
    const bool isStated =
        original_.kernel.launchBoundsThreads ||
        std::ranges::any_of(original_.kernel.launches, [](const analysis::LaunchSite& site) {
            return !site.constantBlock.empty();
        });
    const LaunchSpec& launch = base_.original;
    const std::vector<Dim3> blocks = isStated || !hasSameShape()
                                         ? std::vector<Dim3>()
                                         : otherBlocks(original_, candidate_, launch);
    if (blocks.empty()) {
        plan_.unvaried.push_back(
            fmt::format("the block size: {}",
                        isStated ? fmt::format("the launch states {}", launch.block.count())
                                 : "other values depend on it"));
        return;
    }
    for (const Dim3& block : blocks) {
        LaunchSpec original = launch;
        LaunchSpec candidate = base_.candidate;
        original.block = candidate.block = block;
        original.grid = candidate.grid = gridOfBlocks(launch, block);
        add(std::move(original), std::move(candidate));
        plan_.probes.back().label += block.y == 1
                                         ? fmt::format(", blocks of {}", block.x)
                                         : fmt::format(", blocks of {}x{}", block.x, block.y);
    }
    // Threads that share the work of a block get more of it each.
    if (launch.block.x > warpLanes && launch.block.count() == launch.block.x &&
        hasBlocksOfOwnWork()) {
        LaunchSpec original = launch;
        LaunchSpec candidate = base_.candidate;
        original.block.x = candidate.block.x = warpLanes;
        add(std::move(original), std::move(candidate));
        plan_.probes.back().label += fmt::format(", as many blocks of {}", warpLanes);
    }
    plan_.varied.emplace_back("the block size");
}

} // namespace kernelskill::engine
