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
    /// All of them outlive it.
    HazardFixFinder(const Machines& machines, KernelKnowledge& knowledge, const Profiler& profiler)
        : machines_(machines), knowledge_(knowledge), profiler_(profiler) {}

    /// What find() has found for this kernel text; null if it was not called yet. Cheap.
    [[nodiscard]] HazardFixes cached(KernelRef kernel);
    /// See HazardRepairer. Profiles the kernel if need be. Slow, or from the cache.
    [[nodiscard]] Result<HazardFixes> find(KernelRef kernel, std::stop_token stop,
                                           const ProgressSink& progress);

    [[nodiscard]] const Profiler& profiler() const { return profiler_; }
    [[nodiscard]] const Machines& machines() const { return machines_; }

private:
    const Machines& machines_;
    KernelKnowledge& knowledge_;
    const Profiler& profiler_;
    HazardFixCache cache_;
    std::timed_mutex searching_; ///< One search at a time: it may be for the same kernel.
};

} // namespace kernelskill::engine
