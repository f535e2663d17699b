/// Probes of other sizes.
#include "analysis/source/gpu_constants.h"
#include "engine/inputs/launch_pair.h"
#include "engine/inputs/probe_planner.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

namespace kernelskill::engine {
namespace {

using analysis::warpLanes;

/// Sizes of a launch with several extents multiply.
constexpr std::array<std::int64_t, 3> maxExtentByCount{1200, 100, 24};
constexpr std::size_t multiExtentProbes = 30;
/// The max number of sizes that come from the edit's constants.
constexpr std::size_t maxEditedSizes = 9;
constexpr std::array<std::int64_t, 2> longExtents{1031, 1026};
/// The max number of the edit's constants that a single extent gets.
constexpr std::size_t maxLongSizes = 2;
constexpr std::int64_t shortExtent = 2; ///< Of the others.

std::string listed(const std::set<std::int64_t>& values) {
    std::string text;
    for (const std::int64_t value : values)
        text += fmt::format("{}{}", text.empty() ? "" : ", ", value);
    return text;
}

} // namespace

std::vector<std::int64_t> ProbePlanner::interestingSizes(std::int64_t most) const {
    std::set<std::int64_t> sizes;
    const auto block = static_cast<std::int64_t>(base_.original.block.count());
    if (!sizes_.isGuarded() && !sizes_.hasBlockForEach()) {
        const Dim3& shape = base_.original.block;
        for (const std::int64_t blocks : {1, 2, 3, 5})
            for (const std::int64_t threads : {block, std::int64_t{shape.x}, std::int64_t{shape.y}})
                sizes.insert(blocks * std::max(threads, warpLanes));
    } else {
        sizes.insert({1, 2, 3, 5, 6, 31, 32, 33, 127, 129, 1026});
        sizes.insert({block - 1, block, block + 1, 2 * block + 2});
        std::set<std::int64_t> rests;
        for (const std::int64_t size : sizes)
            rests.insert(size % warpLanes);
        // Every other remainder, each with another number of whole warps.
        for (std::int64_t rest = 0; rest < warpLanes; ++rest) {
            if (!rests.contains(rest))
                sizes.insert(warpLanes * (rest * 7 % 11) + rest);
        }
    }
    std::erase_if(sizes, [&](std::int64_t size) { return size < 1 || size > most; });
    const bool isAlone = sizes_.extents().size() == 1;
    // Five blocks: a loop over them may take four at once.
    if (isAlone && 4 * block + 1 <= static_cast<std::int64_t>(maxProbeThreads))
        sizes.insert(4 * block + 1);
    for (std::size_t i = 0; i < std::min(dictionary_.edited.size(), maxEditedSizes); ++i) {
        const std::int64_t edited = dictionary_.edited[i];
        if (isAlone || edited <= most)
            sizes.insert(edited);
        // A grid may cover whole blocks alone, and an odd number of them.
        if (isAlone)
            sizes.insert(edited + 2 * block);
    }
    return {sizes.begin(), sizes.end()};
}

std::optional<LaunchSizes::Extents> ProbePlanner::addSize(const Extents& extents) {
    auto resized = sizes_.with(extents, true);
    // A launch of the same grid for every size may be larger.
    const double most =
        std::max(maxProbeThreads, std::min(threadsOf(base_.original), 4 * maxProbeThreads));
    if (!resized || threadsOf(resized->launch) > most)
        return std::nullopt;
    auto pair = candidateAt(resized->launch, resized->extents);
    if (!pair)
        return std::nullopt;
    add(std::move(resized->launch), std::move(*pair));
    return std::move(resized->extents);
}

void ProbePlanner::addSizes() {
    if (sizes_.extents().empty()) {
        plan_.unvaried.emplace_back("sizes: nothing that the launch passes or states sets them");
        return;
    }
    const std::size_t count = sizes_.extents().size();
    const std::int64_t most = maxExtentByCount.at(std::min(count, maxExtentByCount.size()) - 1);
    auto sizes = interestingSizes(most);
    std::ranges::shuffle(sizes, random_);
    std::set<std::int64_t> tried;
    const std::size_t probes = count == 1 ? sizes.size() : multiExtentProbes;
    for (std::size_t probe = 0; probe < probes && !sizes.empty(); ++probe) {
        Extents extents;
        std::size_t axis = 0;
        for (const auto& [name, value] : sizes_.extents())
            extents[name] = sizes[(probe + 5 * axis++) % sizes.size()];
        // Now and then one extent is long: then the others are short.
        if (count > 1 && probe % 6 == 5) {
            for (auto& [name, size] : extents)
                size = std::min<std::int64_t>(size, 4);
            std::next(extents.begin(), static_cast<std::ptrdiff_t>(probe / 6 % count))->second =
                longExtents[probe / 6 / count % longExtents.size()];
        }
        if (const auto added = addSize(extents))
            for (const auto& [name, size] : *added)
                tried.insert(size);
    }
    if (count > 1)
        tried.merge(addLongSizes(most));
    if (tried.empty())
        tried = addSingleSizes();
    if (tried.empty())
        plan_.unvaried.emplace_back("sizes: the launch cannot be computed at others");
    else
        plan_.varied.push_back(fmt::format("sizes {}", listed(tried)));
}

/// One extent above the edit's largest constants. Returns the sizes that a launch can have.
std::set<std::int64_t> ProbePlanner::addLongSizes(std::int64_t most) {
    std::set<std::int64_t> tried;
    for (const std::int64_t size : largestEdited(dictionary_, maxLongSizes)) {
        if (size <= most)
            continue;
        for (const auto& [name, value] : sizes_.extents()) {
            Extents extents;
            for (const auto& [other, otherValue] : sizes_.extents())
                extents[other] = other == name ? size : shortExtent;
            if (addSize(extents))
                tried.insert(size);
        }
    }
    return tried;
}

/// Sizes of one extent alone. Returns those that a launch can have.
std::set<std::int64_t> ProbePlanner::addSingleSizes() {
    std::set<std::int64_t> tried;
    for (const auto& [name, value] : sizes_.extents()) {
        for (const std::int64_t size : {3, 6, 33, 70, 1026}) {
            Extents extents = baseExtents_;
            extents[name] = size;
            if (const auto added = addSize(extents))
                tried.insert(added->at(name));
        }
    }
    return tried;
}

} // namespace kernelskill::engine
