#include "engine/diagnosis/stated_launch.h"

#include <algorithm>

namespace kernelskill::engine {

const LaunchSpec* statedLaunch(const std::vector<LaunchSpec>& launches) {
    if (launches.empty())
        return nullptr;
    const auto isEvaluated = [](const LaunchSpec& launch) {
        return launch.origin == LaunchOrigin::Evaluated;
    };
    if (!isEvaluated(launches.front())) // Pinned, captured, or nothing but guesses.
        return &launches.front();
    if (!std::ranges::all_of(launches, isEvaluated))
        return nullptr;
    return &*std::ranges::max_element(launches, {}, [](const LaunchSpec& launch) {
        return launch.grid.count() * launch.block.count();
    });
}

} // namespace kernelskill::engine
