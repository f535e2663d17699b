#include "engine/inputs/launch_inference.h"

#include "engine/inputs/launch_candidates.h"

#include <algorithm>
#include <cmath>

namespace kernelskill::engine {
namespace {

constexpr std::int64_t largestResized = 1 << 26;

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
                                              LaunchTarget target) {
    auto candidates = LaunchCandidates(file, kernel, target).all();
    if (!candidates)
        return std::unexpected(std::move(candidates.error()));
    std::vector<LaunchSpec> result;
    for (auto& candidate : *candidates)
        result.push_back(std::move(candidate.spec));
    return result;
}

std::optional<LaunchSpec> resizeLaunch(const analysis::FileModel& file,
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
        overrides[root] = std::clamp<std::int64_t>(size, 1, largestResized);
    }
    auto resized = launches.again(launch, overrides);
    if (!resized || sameShape(*resized, launch) || resized->block != launch.block)
        return std::nullopt;
    return resized;
}

} // namespace kernelskill::engine
