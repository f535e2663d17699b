/// Writes a launch as the comment that would pin it.
#pragma once

#include "engine/execution/job.h"

#include <string>

namespace kernelskill::engine::emulator {

/// Whether the kernel's launch or the contents of a buffer are guesses.
[[nodiscard]] bool hasGuessedInputs(const LaunchSpec& launch);

/// "kernelskill: launch insert<<<4, 256>>>(table=rand[4096, 0..64], n=1024)": the launch that was
/// run, for the user to change.
[[nodiscard]] std::string pinExample(const LaunchSpec& launch);

} // namespace kernelskill::engine::emulator
