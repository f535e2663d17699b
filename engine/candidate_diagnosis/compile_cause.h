/// Causes of candidates that do not compile.
#pragma once

#include "analysis/command/toolchain.h"
#include "engine/execution/kernel_version.h"
#include "engine/verdict/candidate_diagnosis.h"
#include "engine/verdict/review_failure.h"

#include <stop_token>

namespace kernelskill::engine {

/// `failure` is of the stage Parse or Compile. For parse errors, returns the mistake and the fix
/// that the Repairer finds; for others, the compiler's words.
[[nodiscard]] CandidateDiagnosis compileCause(const KernelVersion& after,
                                              const ReviewFailure& failure,
                                              const analysis::Toolchain& toolchain,
                                              const std::stop_token& stop);

} // namespace kernelskill::engine
