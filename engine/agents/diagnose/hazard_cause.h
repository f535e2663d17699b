/// Causes of candidates that bring a race or another hazard.
#pragma once

#include "engine/agents/candidate_diagnosis.h"
#include "engine/agents/kernel_version.h"
#include "engine/agents/review/review_failure.h"

namespace kernelskill::engine {

/// `failure` is of the stage Hazards. The repair is the likeliest of those that the HazardRepairer
/// would try.
[[nodiscard]] CandidateDiagnosis hazardCause(const KernelVersion& after,
                                             const ReviewFailure& failure);

} // namespace kernelskill::engine
