/// Trials of the instances of a kernel that an edit adds.
#pragma once

#include "engine/inputs/trial.h"

namespace kernelskill::engine {

/// Adds a trial for each instance that the candidate's program launches, unless the plan has one:
/// like the first trial of the original's instance of the same types, with the integers that the
/// instance is for.
void addInstanceTrials(TrialPlan& plan, KernelInFile original, KernelInFile candidate);

} // namespace kernelskill::engine
