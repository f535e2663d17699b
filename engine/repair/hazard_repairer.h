/// Diagnoser and Repairer of hazards: what a run showed in, fixes that were run out.
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
    std::vector<Check> checks;             ///< What the runs with and without it showed.
    std::size_t hazardsAfter = 0;          ///< Of all kinds, on the launch that showed this one.
};

class HazardRepairer {
public:
    HazardRepairer(Executor& executor, const analysis::Toolchain& toolchain)
        : executor_(executor), toolchain_(toolchain) {}

    /// At most one fix for each hazard of `profile`, which is of `kernel` as it stands in
    /// `program`. A fix is returned only if the file with it compiles and, on the launch that
    /// showed the hazard and on others, the hazard is gone, none is new, and results are the same
    /// where they were defined. Nothing is returned where it is not sure what was meant.
    /// `maxBlocks`: of the run that made the profile.
    [[nodiscard]] Result<std::vector<HazardFix>> propose(KernelRef kernel, const Profile& profile,
                                                         std::uint64_t maxBlocks,
                                                         std::stop_token stop,
                                                         const ProgressSink& progress) const;

private:
    Executor& executor_;
    const analysis::Toolchain& toolchain_;
};

} // namespace kernelskill::engine
