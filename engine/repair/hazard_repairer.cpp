#include "engine/repair/hazard_repairer.h"

#include "engine/repair/hazard_fixes/fix_draft.h"
#include "engine/repair/hazard_fixes/verification.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace kernelskill::engine {

namespace {

/// Each try takes a compilation and some runs.
constexpr std::size_t maxTriesPerHazard = 5;

/// The sound draft that leaves the fewest hazards; the likelier one if equal.
std::optional<HazardFix> bestFix(FixVerifier& verifier, const HazardInCode& given,
                                 const std::stop_token& stop) {
    std::optional<HazardFix> best;
    for (HazardFixDraft& draft : hazardFixDrafts(given)) {
        if (stop.stop_requested())
            return std::nullopt;
        const FixTrial& trial = verifier.attempt(draft);
        const bool isGone = std::ranges::none_of(
            trial.hazards, [&](const Hazard& left) { return isSameHazard(left, given.hazard); });
        if (!trial.isSound || !isGone || (best && best->hazardsAfter <= trial.hazards.size()))
            continue;
        best = HazardFix{0, std::move(draft.title), std::move(draft.edits), trial.checks,
                         trial.hazards.size()};
        if (best->hazardsAfter == 0)
            break;
    }
    return best;
}

} // namespace

std::vector<HazardFixDraft> hazardFixDrafts(const HazardInCode& given) {
    std::vector<HazardFixDraft> all;
    // The order matters: a barrier does not cure an update that should be atomic.
    for (auto* family : {&atomicUpdates, &barrierInsertions, &separatedReads, &boundsGuards,
                         &barrierMotions, &zeroedAccumulators})
        std::ranges::move(family(given), std::back_inserter(all));
    if (all.size() > maxTriesPerHazard)
        all.erase(all.begin() + maxTriesPerHazard, all.end());
    return all;
}

Result<std::vector<HazardFix>> HazardRepairer::propose(KernelRef kernel, const Profile& profile,
                                                       std::uint64_t maxBlocks,
                                                       std::stop_token stop,
                                                       const ProgressSink& progress) const {
    std::vector<HazardFix> fixes;
    if (profile.hazards.empty() || kernel.kernel.fromMacro ||
        kernel.kernel.file != kernel.program.model->file)
        return fixes;
    const HazardCode code(kernel.file(), kernel.kernel);
    FixVerifier verifier(executor_, toolchain_, kernel,
                         launchesToTry(kernel.file(), kernel.kernel, profile.launch), maxBlocks,
                         stop);
    for (std::size_t index = 0; index < profile.hazards.size(); ++index) {
        const Hazard& hazard = profile.hazards[index];
        if (hazard.file != kernel.program.model->file)
            continue;
        if (progress)
            progress(fmt::format("looking for a fix of the {} on line {}", spelling(hazard.kind),
                                 hazard.line + 1),
                     static_cast<double>(index) / static_cast<double>(profile.hazards.size()));
        auto fix = bestFix(verifier, {code, hazard, verifier.launches()}, stop);
        if (stop.stop_requested())
            return std::unexpected(
                Error{ErrorKind::Cancelled, "the search for fixes was cancelled", "", ""});
        if (!fix)
            continue;
        fix->hazard = index;
        fixes.push_back(std::move(*fix));
    }
    return fixes;
}

} // namespace kernelskill::engine
