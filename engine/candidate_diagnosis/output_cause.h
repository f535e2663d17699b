/// Causes of candidates that compute something else.
#pragma once

#include "analysis/model/kernel_model.h"
#include "engine/verdict/candidate_diagnosis.h"
#include "engine/verdict/review_failure.h"
#include "skills/base/skill.h"

namespace kernelskill::engine {

/// `failure` is of the stage Outputs. The cause follows from the wrong elements, the size of the
/// error and the inputs.
[[nodiscard]] CandidateDiagnosis outputCause(const analysis::KernelModel& before,
                                             const analysis::KernelModel& after,
                                             skills::Numerics numerics,
                                             const ReviewFailure& failure);

} // namespace kernelskill::engine
