/// Causes of candidates that do not compile.
#pragma once

#include "analysis/parse/toolchain.h"
#include "engine/agents/candidate_diagnosis.h"
#include "engine/agents/kernel_version.h"
#include "engine/agents/review/review_failure.h"

#include <stop_token>

namespace kernelskill::engine {

/// `failure` is of the stages Parse or Compile. For what the parser sees, the mistake and the fix
/// that the Repairer finds; else the compiler's words.
[[nodiscard]] CandidateDiagnosis compileCause(const KernelVersion& after,
                                              const ReviewFailure& failure,
                                              const analysis::Toolchain& toolchain,
                                              const std::stop_token& stop);

} // namespace kernelskill::engine
