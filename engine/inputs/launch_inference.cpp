#include "engine/inputs/launch_inference.h"

#include "analysis/model/scalar_kinds.h"
#include "engine/inputs/launch_candidates.h"
#include "engine/inputs/launch_follower.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kernelskill::engine {
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

Result<LaunchSpec> capturedNumbers(KernelInFile kernel, const StoredLaunch& stored) {
    return LaunchCandidates(kernel.file, kernel.kernel)
        .captured(stored, LaunchCandidates::CapturedUse::Numbers);
}

Result<LaunchSpec> editedCapture(KernelInFile original, KernelInFile edited,
                                 const LaunchSpec& captured) {
    const auto refused = [](std::string why) {
        return std::unexpected(Error{ErrorKind::Failed, std::move(why), {}, {}});
    };
    if (!takesArgumentsOf(edited.kernel, original.kernel))
        return refused("the edit changes the kernel's parameters");
    if (original.kernel.templateParameters.size() != edited.kernel.templateParameters.size())
        return refused("the edit gives the kernel other template parameters");
    auto launch = LaunchFollower(original, edited).ofCaptured(captured);
    if (!launch)
        return refused("the edit changes the launch, and the captured arguments do not determine "
                       "what to");
    return std::move(*launch);
}

bool takesArgumentsOf(const analysis::KernelModel& edited, const analysis::KernelModel& original) {
    const auto& before = original.parameters;
    const auto& after = edited.parameters;
    if (after.size() < before.size())
        return false;
    for (std::size_t i = 0; i < before.size(); ++i)
        if (before[i].name != after[i].name ||
            before[i].type.pointerDepth != after[i].type.pointerDepth ||
            (before[i].type.pointerDepth == 0 && before[i].type.size != after[i].type.size))
            return false;
    return std::all_of(after.begin() + static_cast<std::ptrdiff_t>(before.size()), after.end(),
                       [](const analysis::Parameter& added) {
                           return added.type.pointerDepth == 0 && !added.type.isReference &&
                                  added.type.lanes == 1 && added.type.arrayExtents.empty() &&
                                  analysis::isIntegerScalar(added.type.scalar);
                       });
}

} // namespace kernelskill::engine
