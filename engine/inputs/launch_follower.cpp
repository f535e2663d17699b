#include "engine/inputs/launch_follower.h"

#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

/// Whether both launch as many threads and pass the same behind `known` arguments.
bool areAlike(const LaunchSpec& one, const LaunchSpec& other, std::size_t known) {
    const auto added = [&](const LaunchSpec& launch) {
        std::vector<std::optional<std::int64_t>> values;
        for (std::size_t i = known; i < launch.arguments.size(); ++i)
            if (const auto* scalar = std::get_if<ScalarSpec>(&launch.arguments[i]))
                values.push_back(scalar->integer);
        return values;
    };
    return one.grid == other.grid && one.block == other.block &&
           one.dynamicSharedBytes == other.dynamicSharedBytes && added(one) == added(other);
}

} // namespace

LaunchFollower::LaunchFollower(KernelInFile original, KernelInFile edited)
    : before_(original.file, original.kernel), after_(edited.file, edited.kernel),
      known_(original.kernel.parameters.size()),
      addsArguments_(addsIntegers(original.kernel, edited.kernel)) {}

std::optional<LaunchSpec> LaunchFollower::of(const LaunchSpec& launch) const {
    if (before_.sites() != after_.sites())
        return std::nullopt;
    std::optional<LaunchSpec> result;
    for (std::size_t site = 0; site < before_.sites(); ++site) {
        auto followed = after_.relaunched(before_, site, launch);
        if (!followed || (result && !areAlike(*result, *followed, known_)))
            return std::nullopt;
        result = std::move(followed);
    }
    return result;
}

bool LaunchFollower::changesCount() const {
    for (std::size_t site = 0; site < before_.sites() && before_.sites() == after_.sites(); ++site)
        if (after_.changesCount(before_, site))
            return true;
    return false;
}

std::optional<LaunchSpec> LaunchFollower::ofCaptured(const LaunchSpec& captured) const {
    const auto launched = before_.sitesWith(captured);
    const auto relaunched = after_.sitesWith(captured);
    if (launched == relaunched && !addsArguments_)
        return captured;
    if (launched.size() != relaunched.size())
        return std::nullopt;
    const auto isCaptured = [&](const LaunchCandidates::SiteShape& shape) {
        return shape.grid == captured.grid && shape.block == captured.block &&
               shape.sharedBytes == captured.dynamicSharedBytes;
    };
    for (std::size_t site = 0; !addsArguments_ && site < launched.size(); ++site) {
        const auto& here = launched[site].shape;
        if (!here || !isCaptured(*here) || !relaunched[site].shape)
            continue;
        LaunchSpec result = captured;
        result.grid = relaunched[site].shape->grid;
        result.block = relaunched[site].shape->block;
        result.dynamicSharedBytes = relaunched[site].shape->sharedBytes;
        return result;
    }
    // Each launch that may be the captured one has to become the same.
    std::optional<LaunchSpec> result;
    for (std::size_t site = 0; site < launched.size(); ++site) {
        if (launched[site].shape && !isCaptured(*launched[site].shape))
            continue;
        auto launch = after_.relaunched(before_, site, captured);
        if (!launch || (result && !areAlike(*result, *launch, known_)))
            return std::nullopt;
        result = std::move(launch);
    }
    return result;
}

bool addsIntegers(const analysis::KernelModel& original, const analysis::KernelModel& edited) {
    return edited.parameters.size() > original.parameters.size() &&
           takesArgumentsOf(edited, original);
}

} // namespace kernelskill::engine
