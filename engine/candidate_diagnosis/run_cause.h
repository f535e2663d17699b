/// Causes of candidates that do not run to their end.
#pragma once

#include "engine/execution/kernel_version.h"
#include "engine/verdict/candidate_diagnosis.h"
#include "engine/verdict/review_failure.h"

namespace kernelskill::engine {

/// `failure` is of the stage Run. The cause follows from the executor's message.
[[nodiscard]] CandidateDiagnosis runCause(const KernelVersion& after, const ReviewFailure& failure);

} // namespace kernelskill::engine
