/// Causes of candidates that do not come to their end.
#pragma once

#include "engine/execution/kernel_version.h"
#include "engine/verdict/candidate_diagnosis.h"
#include "engine/verdict/review_failure.h"

namespace kernelskill::engine {

/// `failure` is of the stage Run: by what the executor says of the end.
[[nodiscard]] CandidateDiagnosis runCause(const KernelVersion& after, const ReviewFailure& failure);

} // namespace kernelskill::engine
