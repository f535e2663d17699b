/// Fixes for the hazards of kernels, each run beside the original.
#pragma once

#include "engine/repair/hazard_fix_cache.h"
#include "engine/workbench/profiler.h"

#include <mutex>
#include <stop_token>

namespace kernelskill::engine {

/// Thread-safe.
class HazardFixFinder {
public:
    /// All arguments outlive the finder.
    HazardFixFinder(const Machines& machines, KernelKnowledge& knowledge, const Profiler& profiler)
        : machines_(machines), knowledge_(knowledge), profiler_(profiler) {}

    /// The fixes that find() found for this kernel text; null if it was not called yet. Cheap.
    [[nodiscard]] HazardFixes cached(KernelRef kernel);
    /// Finds fixes, see HazardRepairer. Profiles the kernel if it has no cached profile. Slow,
    /// unless the fixes are cached.
    [[nodiscard]] Result<HazardFixes> find(KernelRef kernel, std::stop_token stop,
                                           const ProgressSink& progress);

    [[nodiscard]] const Profiler& profiler() const { return profiler_; }
    [[nodiscard]] const Machines& machines() const { return machines_; }

private:
    const Machines& machines_;
    KernelKnowledge& knowledge_;
    const Profiler& profiler_;
    HazardFixCache cache_;
    std::timed_mutex searching_; ///< Allows one search at a time: two may be for the same kernel.
};

} // namespace kernelskill::engine
