/// A check that fails on a launch which nothing in the program states.
#pragma once

#include "engine/execution/job.h"
#include "engine/verdict/check_result.h"

namespace kernelskill::engine {

/// `result` as it is, unless it failed on a guessed `launch`: the guess may be one that the kernel
/// was never made for, so the check is then Invalid and says nothing about the edit. Its detail
/// names the guess and the pin that would replace it.
[[nodiscard]] CheckResult withoutBlameForGuess(CheckResult result, const LaunchSpec& launch);

} // namespace kernelskill::engine
