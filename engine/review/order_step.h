/// The step of a review that asks for all sizes, before anything runs, whether two threads race.
#pragma once

#include "engine/execution/job.h"
#include "engine/execution/kernel_ref.h"
#include "engine/review/synchronisation_change.h"
#include "engine/verdict/check_result.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// What is known of the order of the candidate's threads.
struct OrderOfEdit {
    /// Holds for all sizes, or refuses the edit; nullopt: nothing is known.
    std::optional<CheckResult> check;
    /// "no two threads race, for all sizes", where threads share memory of the block or the edit
    /// removes synchronisation; empty otherwise.
    std::string sentence;
    /// The edit removes synchronisation from this kernel alone, and what is left orders all
    /// threads.
    bool needsNoMore = false;
};

/// Refuses an edit only for two threads that meet whatever memory holds, in a launch with blocks of
/// the trial, while no two threads of the original do. `removed`: what the edit takes away from the
/// synchronisation of the whole text. Takes some milliseconds for most kernels, and is bounded.
[[nodiscard]] OrderOfEdit orderOfEdit(KernelRef original, KernelRef candidate,
                                      const LaunchSpec& launch,
                                      const std::vector<LessSynchronisation>& removed);

} // namespace kernelskill::engine
