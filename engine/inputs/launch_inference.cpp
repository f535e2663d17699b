#include "engine/inputs/launch_inference.h"

#include "engine/inputs/launch_candidates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr std::int64_t maxResizedExtent = 1 << 26;

bool sameShape(const LaunchSpec& a, const LaunchSpec& b) {
    if (a.grid != b.grid || a.block != b.block || a.arguments.size() != b.arguments.size())
        return false;
    for (std::size_t i = 0; i < a.arguments.size(); ++i) {
        const auto* first = std::get_if<ScalarSpec>(&a.arguments[i]);
        const auto* second = std::get_if<ScalarSpec>(&b.arguments[i]);
        if (first != nullptr && second != nullptr && first->integer != second->integer)
            return false;
    }
    return true;
}

} // namespace

Result<std::vector<LaunchSpec>> inferLaunches(const analysis::FileModel& file,
                                              const analysis::KernelModel& kernel,
                                              LaunchTarget target, const StoredCaptures& captures) {
    return inferLaunches(std::make_shared<const LaunchSource>(file), file, kernel, target,
                         captures);
}

Result<std::vector<LaunchSpec>> inferLaunches(const std::shared_ptr<const LaunchSource>& source,
                                              const analysis::FileModel& file,
                                              const analysis::KernelModel& kernel,
                                              LaunchTarget target, const StoredCaptures& captures) {
    auto candidates = LaunchCandidates(source, file, kernel, target).all();
    if (!candidates)
        return std::unexpected(std::move(candidates.error()));
    auto captured = capturedLaunches(file, kernel, captures);
    std::vector<LaunchSpec> result;
    for (auto& candidate : *candidates)
        result.push_back(std::move(candidate.spec));
    const auto unpinned = std::ranges::find_if(
        result, [](const LaunchSpec& launch) { return launch.origin != LaunchOrigin::Pinned; });
    if (unpinned != result.begin() && !captured.launches.empty())
        result.front().notes.push_back("a launch was captured as well; the pin comes first");
    result.insert(unpinned, std::make_move_iterator(captured.launches.begin()),
                  std::make_move_iterator(captured.launches.end()));
    auto& notes = result.front().notes;
    notes.insert(notes.end(), captured.refusals.begin(), captured.refusals.end());
    return result;
}

CapturedLaunches capturedLaunches(const analysis::FileModel& file,
                                  const analysis::KernelModel& kernel,
                                  const StoredCaptures& captures) {
    CapturedLaunches result;
    const auto stored = captures.of(kernel);
    if (stored.empty())
        return result;
    const LaunchCandidates candidates(file, kernel);
    for (const StoredLaunch* launch : stored) {
        auto spec = candidates.captured(*launch);
        if (spec)
            result.launches.push_back(std::move(*spec));
        else
            result.refusals.push_back(spec.error().what);
    }
    return result;
}

Result<LaunchSpec> editedCapture(KernelInFile original, KernelInFile edited,
                                 const LaunchSpec& captured) {
    const auto refused = [](std::string why) {
        return std::unexpected(Error{ErrorKind::Failed, std::move(why), {}, {}});
    };
    const bool passesTheSame = std::ranges::equal(
        original.kernel.parameters, edited.kernel.parameters,
        [](const analysis::Parameter& before, const analysis::Parameter& after) {
            return before.name == after.name &&
                   before.type.pointerDepth == after.type.pointerDepth &&
                   (before.type.pointerDepth > 0 || before.type.size == after.type.size);
        });
    if (!passesTheSame)
        return refused("the edit changes the kernel's parameters");
    const LaunchCandidates before(original.file, original.kernel);
    const LaunchCandidates after(edited.file, edited.kernel);
    const auto launched = before.sitesWith(captured);
    const auto relaunched = after.sitesWith(captured);
    if (launched == relaunched)
        return captured;
    if (launched.size() != relaunched.size())
        return refused("the edit changes how often the kernel is launched");
    for (std::size_t site = 0; site < launched.size(); ++site) {
        const auto& here = launched[site].shape;
        if (!here || here->grid != captured.grid || here->block != captured.block ||
            here->sharedBytes != captured.dynamicSharedBytes || !relaunched[site].shape)
            continue;
        LaunchSpec result = captured;
        result.grid = relaunched[site].shape->grid;
        result.block = relaunched[site].shape->block;
        result.dynamicSharedBytes = relaunched[site].shape->sharedBytes;
        return result;
    }
    return refused(
        "the edit changes the launch, and the captured arguments do not determine what to");
}

namespace {

/// `launches` with these extents; nullopt where that changes nothing, or the block.
std::optional<LaunchSpec> resizedTo(const LaunchCandidates& launches, const LaunchSpec& launch,
                                    const std::map<std::string, std::int64_t>& extents) {
    auto resized = launches.again(launch, extents);
    if (!resized || sameShape(*resized, launch) || resized->block != launch.block)
        return std::nullopt;
    return resized;
}

std::array<std::int64_t, 3> threadsByAxis(const LaunchSpec& launch) {
    return {std::int64_t{launch.grid.x} * launch.block.x,
            std::int64_t{launch.grid.y} * launch.block.y,
            std::int64_t{launch.grid.z} * launch.block.z};
}

/// The part of `extent` that the blocks of `resized` cover, for an extent that `launch` covers to
/// the last thread; all of `extent` where nothing is left out. The number of blocks is odd where
/// `odd`.
std::int64_t withoutRest(const LaunchSpec& launch, std::int64_t present, const LaunchSpec& resized,
                         std::int64_t extent, bool odd) {
    const auto before = threadsByAxis(launch);
    const auto after = threadsByAxis(resized);
    const std::array blocks{launch.block.x, launch.block.y, launch.block.z};
    for (std::size_t axis = 0; axis < before.size(); ++axis) {
        if (before[axis] != present || after[axis] == 0 || after[axis] >= extent)
            continue;
        const bool isEven = after[axis] / blocks[axis] % 2 == 0;
        return odd && isEven ? after[axis] - blocks[axis] : after[axis];
    }
    return extent;
}

/// The axis on which `resized` has fewer threads than a scalar says, although `launch` has exactly
/// as many; nullopt where nothing is left out. Such a scalar may be a product of extents.
std::optional<std::size_t> axisWithRest(const LaunchSpec& launch, const LaunchSpec& resized) {
    const auto before = threadsByAxis(launch);
    const auto after = threadsByAxis(resized);
    for (std::size_t i = 0; i < launch.arguments.size() && i < resized.arguments.size(); ++i) {
        const auto* present = std::get_if<ScalarSpec>(&launch.arguments[i]);
        const auto* changed = std::get_if<ScalarSpec>(&resized.arguments[i]);
        if (present == nullptr || changed == nullptr || !present->integer || !changed->integer)
            continue;
        for (std::size_t axis = 0; axis < before.size(); ++axis)
            if (*present->integer > 1 && before[axis] == *present->integer &&
                after[axis] < *changed->integer)
                return axis;
    }
    return std::nullopt;
}

/// `resized`, a launch with these extents. Where it leaves out a rest of their product, the max
/// extent is rounded up to whole blocks, also in `extents`.
std::optional<LaunchSpec> resizedWithoutRest(const LaunchCandidates& launches,
                                             const LaunchSpec& launch, LaunchSpec resized,
                                             std::map<std::string, std::int64_t>& extents) {
    const auto axis = axisWithRest(launch, resized);
    if (!axis || extents.empty())
        return resized;
    const std::int64_t block = std::array{launch.block.x, launch.block.y, launch.block.z}.at(*axis);
    auto& largest = std::ranges::max_element(extents, {}, [](const auto& extent) {
                        return extent.second;
                    })->second;
    largest = (largest + block - 1) / block * block;
    auto whole = resizedTo(launches, launch, extents);
    if (!whole || axisWithRest(launch, *whole))
        return std::nullopt;
    return whole;
}

} // namespace

std::optional<LaunchSpec> launchAt(const analysis::FileModel& file,
                                   const analysis::KernelModel& kernel, const LaunchSpec& launch,
                                   const std::map<std::string, std::int64_t>& extents) {
    return resizedTo(LaunchCandidates(file, kernel), launch, extents);
}

std::optional<ResizedLaunch> resizeLaunch(const analysis::FileModel& file,
                                          const analysis::KernelModel& kernel,
                                          const LaunchSpec& launch, double scale, bool odd) {
    const LaunchCandidates launches(file, kernel);
    const auto candidates = launches.all();
    if (!candidates || scale <= 0)
        return std::nullopt;
    const auto origin = std::ranges::find_if(*candidates, [&](const LaunchCandidate& candidate) {
        return sameShape(candidate.spec, launch) &&
               candidate.spec.templateArguments == launch.templateArguments;
    });
    if (origin == candidates->end() || origin->roots.empty())
        return std::nullopt;
    // Without a guard the kernel may rely on full blocks: then only sizes that divide as the
    // present one does.
    const bool guarded = launches.hasBounds();
    if (!guarded && odd)
        return std::nullopt;
    std::map<std::string, std::int64_t> overrides;
    for (const auto& [root, value] : origin->roots) {
        auto size = static_cast<std::int64_t>(std::llround(static_cast<double>(value) * scale));
        if (!guarded &&
            (static_cast<double>(size) != static_cast<double>(value) * scale || size % 32 != 0))
            return std::nullopt;
        if (odd && size % 2 == 0)
            size = size > 2 ? size - 1 : size + 1;
        overrides[root] = std::clamp<std::int64_t>(size, 1, maxResizedExtent);
    }
    auto resized = resizedTo(launches, launch, overrides);
    if (!resized)
        return std::nullopt;
    auto whole = overrides;
    for (const auto& [root, value] : origin->roots)
        whole[root] = withoutRest(launch, value, *resized, overrides.at(root), odd);
    if (whole != overrides)
        resized = resizedTo(launches, launch, whole);
    if (resized)
        resized = resizedWithoutRest(launches, launch, std::move(*resized), whole);
    if (!resized)
        return std::nullopt;
    return ResizedLaunch{std::move(*resized), std::move(whole)};
}

} // namespace kernelskill::engine
