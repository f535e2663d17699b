/// Analyses a loop's header: induction variable, bounds, step, trip count.
#pragma once

#include "analysis/model/index_evaluator.h"
#include "analysis/model/kernel_model.h"

namespace kernelskill::analysis {

/// Everything in `Loop` except parent, depth and hasBarrier, for the loop `statement`. `evaluator`
/// has the variables' values before the loop's initialisation.
[[nodiscard]] Loop describeLoop(const FunctionBody& body, StmtId statement,
                                const IndexEvaluator& evaluator);

} // namespace kernelskill::analysis
