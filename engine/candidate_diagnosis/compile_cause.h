/// Causes of candidates that do not compile.
#pragma once

#include "analysis/command/toolchain.h"
#include "engine/execution/kernel_version.h"
#include "engine/verdict/candidate_diagnosis.h"
#include "engine/verdict/review_failure.h"

#include <stop_token>

namespace kernelskill::engine {

/// `failure` is of the stages Parse or Compile. For what the parser sees, the mistake and the fix
/// that the Repairer finds; else the compiler's words.
[[nodiscard]] CandidateDiagnosis compileCause(const KernelVersion& after,
                                              const ReviewFailure& failure,
                                              const analysis::Toolchain& toolchain,
                                              const std::stop_token& stop);

} // namespace kernelskill::engine
