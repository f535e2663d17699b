/// OptimizationSearch: tries plans round after round, each on the best texts so far, and keeps
/// what is correct and better. Never worse than the start: the best is what was verified against
/// the original as a whole.
#pragma once

#include "engine/optimization/optimization.h"
#include "engine/search/optimization_steps.h"

#include <stop_token>

namespace kernelskill::engine {

/// How it searches. A round takes the `beam` first plans: those of the best version first, in the
/// planner's order, then of the next best. Versions with a plan left stay in the search, so that
/// improvements compound. A plan is kept
/// - by measurement: if the verdict is Faster;
/// - where nothing is measured: if it is correct, and isImprovement() by the cost model.
/// It ends at the roofline, when no version has a plan left, after two rounds without a new best,
/// when rounds or seconds are spent, or when it is cancelled.
///
/// The same text, options, memories and seed give the same attempts in the same order with the same
/// decisions, unless time runs out or a measurement wavers: a round begins with what the one before
/// it left, and takes its results in the order of its plans.
class OptimizationSearch {
public:
    OptimizationSearch(OptimizationSteps& steps, OptimizationOptions options)
        : steps_(steps), options_(options) {}

    /// The error of the original, if it cannot be run. Cancelling is no error: the best so far is
    /// the answer.
    [[nodiscard]] Result<Optimization> run(const KernelVersion& original, std::stop_token stop,
                                           const ProgressSink& progress);

private:
    OptimizationSteps& steps_;
    OptimizationOptions options_;
};

} // namespace kernelskill::engine
