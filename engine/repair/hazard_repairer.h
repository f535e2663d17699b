/// Diagnoses and repairs hazards: takes a run's profile and returns fixes that were run.
#pragma once

#include "analysis/source/text_edit.h"
#include "engine/execution/executor.h"
#include "engine/review/reviewer.h"
#include "engine/verdict/verdict.h"

#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct HazardFix {
    std::size_t hazard = 0;                ///< Index into the profile's hazards.
    std::string title;                     ///< "insert '__syncthreads();' before line 16"
    std::vector<analysis::TextEdit> edits; ///< In the kernel's file, which is the main one.
    std::vector<Check> checks;             ///< The results of runs with and without it.
    std::size_t hazardsAfter = 0; ///< Hazards of all kinds on the launch that showed this one.
};

class HazardRepairer {
public:
    HazardRepairer(Executor& executor, const analysis::Toolchain& toolchain)
        : executor_(executor), toolchain_(toolchain) {}

    /// Returns at most one fix for each hazard of `profile`, which was made from `kernel` in its
    /// current text. Each fix was verified: the file compiles; the hazard is gone on the launch
    /// that showed it and on others; no hazard is new; defined results stay the same. Returns no
    /// fix if the intention is unclear. `maxBlocks` is the limit of the run that made the profile.
    [[nodiscard]] Result<std::vector<HazardFix>> propose(KernelRef kernel, const Profile& profile,
                                                         std::uint64_t maxBlocks,
                                                         std::stop_token stop,
                                                         const ProgressSink& progress) const;

private:
    Executor& executor_;
    const analysis::Toolchain& toolchain_;
};

} // namespace kernelskill::engine
