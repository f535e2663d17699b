/// A loop's header, understood: induction variable, bounds, step, trip count.
#pragma once

#include "analysis/model/index_evaluator.h"
#include "analysis/model/kernel_model.h"

namespace kernelskill::analysis {

/// Everything of `Loop` but parent, depth and hasBarrier, for the loop `statement`. `evaluator`
/// knows the variables as they are on entry, the initialisation not yet done.
[[nodiscard]] Loop describeLoop(const FunctionBody& body, StmtId statement,
                                const IndexEvaluator& evaluator);

} // namespace kernelskill::analysis
