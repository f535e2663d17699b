/// Profiles a kernel whose launch may be a guess.
#pragma once

#include "engine/execution/executor.h"
#include "engine/review/reviewer.h"

#include <stop_token>
#include <vector>

namespace kernelskill::engine {

/// Profiles the first launch of `launches`, which are sorted best first and are not empty. If a
/// guessed launch fails, the guess may be at fault: the next launch is tried, then a smaller one.
/// If a launch takes too long, one with fewer rounds of its loops is tried last. If all fail,
/// returns the first one's error.
[[nodiscard]] Result<RunResult> firstRun(Executor& executor, KernelRef kernel,
                                         std::vector<LaunchSpec> launches,
                                         const std::stop_token& stop, const ProgressSink& say);

} // namespace kernelskill::engine
