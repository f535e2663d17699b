#include "engine/inputs/launch_inference.h"

#include "engine/inputs/launch_candidates.h"

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
    const bool passesTheSame = std::ranges::equal(
        original.kernel.parameters, edited.kernel.parameters,
        [](const analysis::Parameter& before, const analysis::Parameter& after) {
            return before.name == after.name &&
                   before.type.pointerDepth == after.type.pointerDepth &&
                   (before.type.pointerDepth > 0 || before.type.size == after.type.size);
        });
    if (!passesTheSame)
        return refused("the edit changes the kernel's parameters");
    if (original.kernel.templateParameters.size() != edited.kernel.templateParameters.size())
        return refused("the edit gives the kernel other template parameters");
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

} // namespace kernelskill::engine
