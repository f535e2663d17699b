/// Repairs the hazards of a whole file: profiles its kernels and applies fixes one after another.
#pragma once

#include "engine/workbench/hazard_fix_finder.h"

#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct HazardRepair {
    struct Applied {
        Hazard hazard; ///< Its lines are lines of the text that the fix was applied to.
        std::string title;
    };
    std::vector<Applied> applied; ///< In the order in which they were applied.
    std::vector<Hazard> left;     ///< The remaining hazards, with lines of the repaired text.
    std::size_t hazardsBefore = 0;
    std::vector<std::string> notRun; ///< "'name': why" for each kernel that could not be run.
    analysis::EditSet edits;         ///< All edits together, against the original text.
    std::string text;                ///< The repaired file.
};

/// Repairs the kernels of the main file of `program`, which has no compile errors. Missing if there
/// is no host compiler to run kernels with.
[[nodiscard]] Result<HazardRepair> repairHazards(HazardFixFinder& fixes,
                                                 const ProgramSource& program, std::stop_token stop,
                                                 const ProgressSink& progress);

} // namespace kernelskill::engine
