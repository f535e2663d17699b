/// Repairs the hazards of a whole file: profiles its kernels and applies fixes one after another.
#pragma once

#include "engine/workbench/hazard_fix_finder.h"

#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct HazardRepair {
    struct Applied {
        Hazard hazard; ///< Its lines are those of the text that the fix was applied to.
        std::string title;
    };
    std::vector<Applied> applied; ///< In order.
    std::vector<Hazard> left;     ///< With the lines of the text afterwards.
    std::size_t hazardsBefore = 0;
    std::vector<std::string> notRun; ///< "'name': why", of kernels that could not be looked at.
    analysis::EditSet edits;         ///< All of them, against the original text.
    std::string text;                ///< The file afterwards.
};

/// Repairs the kernels of the main file of `program`, which has no compile errors. Missing: there
/// is nothing to run kernels with.
[[nodiscard]] Result<HazardRepair> repairHazards(HazardFixFinder& fixes,
                                                 const ProgramSource& program, std::stop_token stop,
                                                 const ProgressSink& progress);

} // namespace kernelskill::engine
