/// Probes of buffers at other addresses: equal ones, and such as vectors do not fit.
#include "engine/inputs/equal_pointers.h"
#include "engine/inputs/launch_pair.h"
#include "engine/inputs/pointer_shift.h"
#include "engine/inputs/probe_planner.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

namespace kernelskill::engine {

void ProbePlanner::addEqualPointers() {
    // These say which memory there is.
    if (base_.original.origin == LaunchOrigin::Pinned ||
        base_.original.origin == LaunchOrigin::Captured)
        return;
    const PointerPairs pairs = pointerPairs(original_, candidate_);
    for (const PointerPair& pair : pairs.newlyRestricted)
        plan_.unvaried.push_back(fmt::format("equal pointers: the edit is right only if '{}' and "
                                             "'{}' do not overlap",
                                             pair.input, pair.output));
    if (pairs.equal.empty() || isLarge())
        return;
    for (const PointerPair& pair : pairs.equal) {
        add(withEqualPointers(base_.original, pair), base_.candidate, InputStyle::Plain);
        Trial& probe = plan_.probes.back();
        probe.hasEqualPointers = true;
        probe.label += fmt::format(", '{}' and '{}' equal", pair.input, pair.output);
    }
    plan_.varied.emplace_back("equal pointers");
}

/// The base launch, or the largest whole probe if the base is too large to be run again and again;
/// nullopt if no probe is small enough.
std::optional<Trial> ProbePlanner::launchToShift() const {
    constexpr double maxThreads = maxValueThreads;
    if (threadsOf(base_.original) <= maxThreads)
        return base_;
    std::optional<Trial> largest;
    for (const Trial& probe : plan_.probes) {
        const double threads = threadsOf(probe.original);
        if (!probe.maxBlocks && threads <= maxThreads &&
            (!largest || threads > threadsOf(largest->original)))
            largest = probe;
    }
    return largest;
}

/// Guards of vector accesses ask where buffers begin.
void ProbePlanner::addShiftedBuffers() {
    if (!usesAddresses(candidate_))
        return;
    const std::optional<Trial> launch = launchToShift();
    if (!launch)
        return;
    for (LaunchSpec& shifted : withShiftedBuffers(launch->original)) {
        add(std::move(shifted), launch->candidate);
        plan_.probes.back().label += ", at odd addresses";
    }
    plan_.varied.emplace_back("the alignment of buffers");
}

} // namespace kernelskill::engine
