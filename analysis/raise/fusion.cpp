#include "analysis/raise/fusion.h"

#include "analysis/raise/live_steps.h"
#include "analysis/raise/merged_computations.h"
#include "analysis/raise/pulled_values.h"
#include "analysis/raise/stored_layouts.h"

#include <string>
#include <utility>

namespace kernelskill::analysis::raise {

Program fused(Program program, const FusionLimits& limits) {
    // Each pass can make room for another; two rounds are usual.
    constexpr int mostRounds = 6;
    program = withoutDeadSteps(std::move(program));
    std::size_t steps = program.steps.size() + 1;
    for (int round = 0; round < mostRounds && program.steps.size() < steps; ++round) {
        steps = program.steps.size();
        program = withPulledValues(std::move(program));
        program = withInlinedMaps(std::move(program), limits.inlining);
        program = withFusedStores(std::move(program), limits.stores);
        program = withMergedComputations(std::move(program), limits.stores);
    }
    program = withStoredLayouts(std::move(program));
    return inShortLivedOrder(std::move(program));
}

} // namespace kernelskill::analysis::raise
