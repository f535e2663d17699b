/// Probes of single blocks of launches far beyond the emulator's size.
#include "engine/inputs/block_work.h"
#include "engine/inputs/launch_pair.h"
#include "engine/inputs/probe_planner.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <utility>

namespace kernelskill::engine {
namespace {

/// Blocks that run of the file's own launch, to see whether they do the same work.
constexpr std::uint64_t sampledBlocks = 12;
/// Kernels count elements in int.
constexpr double maxDistantElements = 5 << 28;
/// The max where counters advance by the whole grid, so that the last step does not overflow.
constexpr double maxLoopedElements = 15 << 26;

/// `probe` with only some blocks of its grid.
Trial someBlocksOf(Trial probe, std::uint64_t blocks) {
    probe.maxBlocks = std::min(blocks, std::max<std::uint64_t>(probe.original.grid.count() / 2, 1));
    probe.label += fmt::format(", {} of {} blocks", *probe.maxBlocks, probe.original.grid.count());
    return probe;
}

} // namespace

/// A launch far beyond the emulator's size.
struct ProbePlanner::Distance {
    double threads;
    std::int64_t maxOther; ///< Bounds the extents that are not made large.
    std::uint64_t blocks;  ///< The number of its blocks that run.
    bool isPlain;          ///< Every element has a value of its own.
};

void ProbePlanner::addDistantBlocks() {
    if (sizes_.extents().empty() || !sizes_.isGuarded())
        return;
    if (!takesBuffersOf(stated_, base_.original)) {
        plan_.unvaried.emplace_back("blocks of larger launches: the edit has buffers of its own");
        return;
    }
    // Past 16 bits, and past 32 bits of bytes: where narrow indices wrap around. The first is for
    // threads that each walk all of the data.
    static constexpr std::array<Distance, 4> distances{{
        {1 << 17, 257, 4, true},
        {1 << 20, 33, 12, false},
        {1 << 20, 33, 12, true},
        {5 << 28, 33, 12, true},
    }};
    for (const Distance& distance : distances)
        addDistant(distance);
    if (plan_.distant.empty()) {
        plan_.unvaried.emplace_back("blocks of larger launches: none can be computed for both");
        return;
    }
    Trial sample = whole_;
    sample.isProbe = true;
    plan_.sameBlocks = someBlocksOf(std::move(sample), sampledBlocks);
}

/// Adds a launch with about so many threads, of which some blocks run. One extent after the other
/// is made large until the grid follows it; the others are short, since threads may loop over them.
void ProbePlanner::addDistant(const Distance& distance) {
    const double threads = distance.threads;
    for (const auto& [large, unused] : sizes_.extents()) {
        Extents extents;
        for (const auto& [name, value] : sizes_.extents())
            extents[name] = std::min<std::int64_t>(value, distance.maxOther);
        double others = 1;
        for (const auto& [name, value] : extents)
            others *= name == large ? 1 : static_cast<double>(value);
        const bool isLooped = loopsOverGrid(original_.kernel) || loopsOverGrid(candidate_.kernel);
        const double bound = (isLooped ? maxLoopedElements : maxDistantElements) / others;
        // The grid need not be proportional to the extent.
        std::optional<LaunchSpec> launch;
        for (int round = 0; round < 3; ++round) {
            const double ratio = launch ? threads / threadsOf(*launch) : 1.0;
            const double wanted = static_cast<double>(extents[large]) * ratio;
            extents[large] = static_cast<std::int64_t>(std::min(wanted, bound)) | 1;
            launch = sizes_.at(extents);
            if (!launch)
                break;
        }
        // The grid covers all positions: a candidate that loops over the grid would do the rest
        // that the original leaves out.
        if (auto whole = launch ? sizes_.with(extents, false) : std::nullopt) {
            launch = std::move(whole->launch);
            extents = std::move(whole->extents);
        }
        if (!launch || threadsOf(*launch) > 2 * threads || threadsOf(*launch) < threads / 64)
            continue;
        auto pair = candidateAt(*launch, extents);
        if (!pair || pair->grid != launch->grid || pair->block != launch->block)
            continue;
        if (distance.isPlain)
            add(std::move(*launch), std::move(*pair), InputStyle::Plain);
        else
            add(std::move(*launch), std::move(*pair));
        plan_.distant.push_back(someBlocksOf(std::move(plan_.probes.back()), distance.blocks));
        plan_.probes.pop_back();
        return;
    }
}

} // namespace kernelskill::engine
