#include "engine/inputs/launch_sizes.h"

#include <algorithm>
#include <array>
#include <cmath>
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

std::array<std::int64_t, 3> threadsByAxis(const LaunchSpec& launch) {
    return {std::int64_t{launch.grid.x} * launch.block.x,
            std::int64_t{launch.grid.y} * launch.block.y,
            std::int64_t{launch.grid.z} * launch.block.z};
}

/// The part of `extent` that the blocks of `resized` cover, for an extent that `launch` covers to
/// the last thread; all of `extent` where nothing is left out. The number of blocks is odd where
/// `odd`.
std::int64_t coveredPart(const LaunchSpec& launch, std::int64_t present, const LaunchSpec& resized,
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

/// Whether the axis has a thread for each of `extent` and no block beyond it.
bool coversJust(std::int64_t threads, std::int64_t block, std::int64_t extent) {
    return threads >= extent && threads - block < extent;
}

/// The axis on which `resized` has fewer threads than a scalar says, although `launch` has exactly
/// as many, or has just blocks enough and its grid stays; nullopt where nothing is left out. Such a
/// scalar may be a product of extents.
std::optional<std::size_t> axisWithRest(const LaunchSpec& launch, const LaunchSpec& resized) {
    const auto before = threadsByAxis(launch);
    const auto after = threadsByAxis(resized);
    const std::array blocks{launch.block.x, launch.block.y, launch.block.z};
    for (std::size_t i = 0; i < launch.arguments.size() && i < resized.arguments.size(); ++i) {
        const auto* present = std::get_if<ScalarSpec>(&launch.arguments[i]);
        const auto* changed = std::get_if<ScalarSpec>(&resized.arguments[i]);
        if (present == nullptr || changed == nullptr || !present->integer || !changed->integer)
            continue;
        for (std::size_t axis = 0; axis < before.size(); ++axis) {
            const bool isCovered = before[axis] == *present->integer ||
                                   (before[axis] == after[axis] &&
                                    coversJust(before[axis], blocks[axis], *present->integer));
            if (*present->integer > 1 && isCovered && after[axis] < *changed->integer)
                return axis;
        }
    }
    return std::nullopt;
}

} // namespace

LaunchSizes::LaunchSizes(const analysis::FileModel& file, const analysis::KernelModel& kernel,
                         LaunchSpec launch, SizeSource source)
    : LaunchSizes(std::make_shared<const LaunchSource>(file), file, kernel, std::move(launch),
                  source) {}

LaunchSizes::LaunchSizes(std::shared_ptr<const LaunchSource> text, const analysis::FileModel& file,
                         const analysis::KernelModel& kernel, LaunchSpec launch, SizeSource source)
    : launches_(std::move(text), file, kernel, LaunchTarget::Emulator), launch_(std::move(launch)) {
    if (auto candidates = launches_.all()) {
        const auto origin =
            std::ranges::find_if(*candidates, [&](const LaunchCandidate& candidate) {
                return sameShape(candidate.spec, launch_) &&
                       candidate.spec.templateArguments == launch_.templateArguments;
            });
        if (origin != candidates->end())
            extents_ = std::move(origin->roots);
    }
    if (source == SizeSource::Text)
        return;
    if (source == SizeSource::Numbers || !followsExtents())
        extents_.clear();
    if (extents_.empty()) {
        relations_.emplace(launch_);
        extents_ = relations_->extents();
    }
}

bool LaunchSizes::followsExtents() const {
    return std::ranges::any_of(extents_, [&](const auto& extent) {
        return std::ranges::any_of(std::array{2 * extent.second, extent.second / 2},
                                   [&](std::int64_t size) {
                                       Extents one = extents_;
                                       one[extent.first] = size;
                                       const auto launch = launches_.again(launch_, one);
                                       return launch && !sameShape(*launch, launch_);
                                   });
    });
}

bool LaunchSizes::hasBlockForEach() const {
    const Dim3& grid = launch_.grid;
    return std::ranges::all_of(std::array{grid.x, grid.y, grid.z}, [&](std::uint32_t blocks) {
        return blocks == 1 || std::ranges::any_of(extents_, [&](const auto& extent) {
                   return extent.second == blocks;
               });
    });
}

std::optional<LaunchSpec> LaunchSizes::changed(const Extents& extents) const {
    auto resized = relations_ ? relations_->at(extents) : launches_.again(launch_, extents);
    if (!resized || sameShape(*resized, launch_) || resized->block != launch_.block)
        return std::nullopt;
    return resized;
}

/// `resized`, a launch with these extents. Where it leaves out a rest of their product, the max
/// extent is rounded up to whole blocks, also in `extents`.
std::optional<LaunchSpec> LaunchSizes::withoutRest(LaunchSpec resized, Extents& extents) const {
    const auto axis = axisWithRest(launch_, resized);
    if (!axis || extents.empty())
        return resized;
    const std::int64_t block =
        std::array{launch_.block.x, launch_.block.y, launch_.block.z}.at(*axis);
    auto& largest = std::ranges::max_element(extents, {}, [](const auto& extent) {
                        return extent.second;
                    })->second;
    largest = (largest + block - 1) / block * block;
    auto whole = changed(extents);
    if (!whole || axisWithRest(launch_, *whole))
        return std::nullopt;
    return whole;
}

std::optional<ResizedLaunch> LaunchSizes::scaledBy(double scale, bool odd) const {
    // Without a guard the kernel may rely on full blocks: then only sizes that divide as the
    // present one does.
    const bool guarded = isGuarded();
    if (extents_.empty() || scale <= 0 || (!guarded && odd))
        return std::nullopt;
    Extents wanted;
    for (const auto& [extent, value] : extents_) {
        auto size = static_cast<std::int64_t>(std::llround(static_cast<double>(value) * scale));
        if (!guarded &&
            (static_cast<double>(size) != static_cast<double>(value) * scale || size % 32 != 0))
            return std::nullopt;
        if (odd && size % 2 == 0)
            size = size > 2 ? size - 1 : size + 1;
        wanted[extent] = std::clamp<std::int64_t>(size, 1, maxResizedExtent);
    }
    return with(wanted, odd);
}

std::optional<ResizedLaunch> LaunchSizes::with(const Extents& wanted, bool odd) const {
    auto resized = changed(wanted);
    if (!resized)
        return std::nullopt;
    auto whole = wanted;
    for (const auto& [extent, size] : wanted) {
        if (const auto present = extents_.find(extent); present != extents_.end())
            whole[extent] = coveredPart(launch_, present->second, *resized, size, odd);
    }
    if (whole != wanted)
        resized = changed(whole);
    if (resized)
        resized = withoutRest(std::move(*resized), whole);
    if (!resized)
        return std::nullopt;
    return ResizedLaunch{std::move(*resized), std::move(whole)};
}

std::optional<LaunchSpec> LaunchSizes::at(const Extents& extents) const {
    return changed(extents);
}

std::optional<LaunchSpec> launchAt(const analysis::FileModel& file,
                                   const analysis::KernelModel& kernel, const LaunchSpec& launch,
                                   const std::map<std::string, std::int64_t>& extents) {
    return LaunchSizes(file, kernel, launch).at(extents);
}

std::optional<ResizedLaunch> resizeLaunch(const analysis::FileModel& file,
                                          const analysis::KernelModel& kernel,
                                          const LaunchSpec& launch, double scale, bool odd) {
    return LaunchSizes(file, kernel, launch).scaledBy(scale, odd);
}

} // namespace kernelskill::engine
