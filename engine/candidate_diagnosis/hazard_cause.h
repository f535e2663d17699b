/// Causes of candidates that add a race or another hazard.
#pragma once

#include "engine/execution/kernel_version.h"
#include "engine/verdict/candidate_diagnosis.h"
#include "engine/verdict/review_failure.h"

namespace kernelskill::engine {

/// `failure` has at least one hazard. The repair is the likeliest one that the HazardRepairer would
/// try.
[[nodiscard]] CandidateDiagnosis hazardCause(const KernelVersion& after,
                                             const ReviewFailure& failure);

} // namespace kernelskill::engine
