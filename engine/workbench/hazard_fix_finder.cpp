#include "engine/workbench/hazard_fix_finder.h"

#include "engine/execution/sized_launch.h"
#include "engine/process/patient_lock.h"

#include <utility>

namespace kernelskill::engine {

HazardFixes HazardFixFinder::cached(KernelRef kernel) {
    const ProfileKey key = knowledge_.insights().key(kernel);
    return cache_.find(hazardFixKey(kernel, key), placeOf(kernel));
}

Result<HazardFixes> HazardFixFinder::find(KernelRef kernel, std::stop_token stop,
                                          const ProgressSink& progress) {
    const auto report = profiler_.profile(kernel, stop, progress);
    if (!report)
        return std::unexpected(report.error());
    const auto searching = lockUnlessStopped(searching_, stop);
    if (!searching)
        return std::unexpected(searching.error());
    if (auto known = cached(kernel))
        return known;
    auto emulator = machines_.emulator();
    if (!emulator)
        return std::unexpected(emulator.error());
    const HazardRepairer repairer(**emulator, machines_.toolchain());
    auto fixes = repairer.propose(kernel, *report->profile, profiledBlocks(report->profile->launch),
                                  std::move(stop), progress);
    if (!fixes)
        return std::unexpected(fixes.error());
    const ProfileKey key = knowledge_.insights().key(kernel);
    cache_.insert(hazardFixKey(kernel, key), placeOf(kernel), std::move(*fixes));
    return cached(kernel);
}

} // namespace kernelskill::engine
