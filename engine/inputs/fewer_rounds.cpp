#include "engine/inputs/fewer_rounds.h"

#include "engine/inputs/launch_pair.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <variant>

namespace kernelskill::engine {
namespace {

/// A first round and a last one, with one in between.
constexpr std::int64_t minRounds = 3;
/// More than a warp, for numbers that positions of threads are compared with as well.
constexpr std::int64_t minThreads = 40;

} // namespace

std::optional<LaunchSpec> withFewerRounds(LaunchSpec launch,
                                          const std::map<std::string, ScalarUse>& uses,
                                          std::int64_t divisor) {
    if (launch.origin == LaunchOrigin::Pinned || launch.origin == LaunchOrigin::Captured)
        return std::nullopt;
    bool hasChanged = false;
    for (ArgumentSpec& argument : launch.arguments) {
        auto* scalar = std::get_if<ScalarSpec>(&argument);
        if (scalar == nullptr || !scalar->integer || launch.madeFor.contains(scalar->name))
            continue;
        const auto use = uses.find(scalar->name);
        if (use == uses.end() || !use->second.limitsLoop)
            continue;
        const std::int64_t fewer =
            std::max(*scalar->integer / divisor, use->second.canGrow() ? minRounds : minThreads);
        if (fewer >= *scalar->integer)
            continue;
        setInteger(*scalar, fewer);
        launch.notes.push_back(
            fmt::format("{} = {}: with more rounds the kernel takes too long here", scalar->name,
                        *scalar->integer));
        hasChanged = true;
    }
    return hasChanged ? std::optional(std::move(launch)) : std::nullopt;
}

} // namespace kernelskill::engine
