/// OptimizationSearch: tries plans round after round, each on the best texts so far, and keeps
/// those that are correct and better. The result is never worse than the start: the best text was
/// verified as a whole against the original.
#pragma once

#include "engine/optimization/optimization.h"
#include "engine/search/optimization_steps.h"

#include <stop_token>

namespace kernelskill::engine {

/// A round takes the first `beam` plans: the best version's plans first, in the planner's order,
/// then those of the next best. Versions that have a plan left stay in the search, so that
/// improvements compound. If plans are measured, a round looks at several times as many on the GPU
/// first, and the fastest go on. A large gain ends the reviews of those that promise no more, so
/// that the next round builds on it; they are left for later. A plan is kept
/// - if it was measured and the verdict is Faster;
/// - if nothing is measured, it is correct, and isImprovement() holds in the cost model.
/// An edit that gains nothing may be kept as a stepping stone, see steppingStoneOf(): never a
/// result, and built on where versions that gain have no plan left. Plans on it are compared with
/// the version before it, together with it.
///
/// When no plan is left or rounds gain nothing, and there is a version that gains, a last round
/// tries other options of the edits that lead to it, such as factors and block sizes, with the
/// later edits made again. It is repeated around a faster version that it finds.
///
/// The search ends at the roofline, when no version has a plan left, after two rounds without a new
/// best (and two on stepping stones), when rounds or seconds are spent, or when it is cancelled.
///
/// The same text, options, memories and seed give the same attempts in the same order with the same
/// decisions, because a round takes its results in the order of its plans. Only time limits, noise
/// in measurements and the end of a round by a large gain can change that.
class OptimizationSearch {
public:
    OptimizationSearch(OptimizationSteps& steps, OptimizationOptions options)
        : steps_(steps), options_(options) {}

    /// Returns the error of the original if it cannot be run. Cancelling is no error: the result is
    /// the best so far.
    [[nodiscard]] Result<Optimization> run(const KernelVersion& original, std::stop_token stop,
                                           const ProgressSink& progress);

private:
    OptimizationSteps& steps_;
    OptimizationOptions options_;
};

} // namespace kernelskill::engine
