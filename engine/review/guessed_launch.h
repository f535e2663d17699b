/// A check that fails on a launch which nothing in the program states.
#pragma once

#include "engine/execution/job.h"
#include "engine/verdict/check_result.h"

namespace kernelskill::engine {

/// `result` as it is, unless it failed on a launch with a guessed shape: the guess may be one that
/// the kernel was never made for, so the check is then Invalid and says nothing about the edit. Its
/// detail names the guess and the pin that would replace it. A launch of the program at a size that
/// was made up is no such guess: every trial makes sizes up.
[[nodiscard]] CheckResult withoutBlameForGuess(CheckResult result, const LaunchSpec& launch);

} // namespace kernelskill::engine
