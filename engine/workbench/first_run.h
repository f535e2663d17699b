/// Profiles a kernel whose launch may be a guess.
#pragma once

#include "engine/execution/executor.h"
#include "engine/review/reviewer.h"

#include <stop_token>
#include <vector>

namespace kernelskill::engine {

/// Profiles the best launch. A guess that the kernel does not survive, which may well be the
/// guess's fault, gives way to the next one and then to a smaller one; where all fail, the first
/// one's error. `launches` come best first, and there is one.
[[nodiscard]] Result<RunResult> firstRun(Executor& executor, KernelRef kernel,
                                         std::vector<LaunchSpec> launches,
                                         const std::stop_token& stop, const ProgressSink& say);

} // namespace kernelskill::engine
