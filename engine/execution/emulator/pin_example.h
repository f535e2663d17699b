/// A launch as the comment that would pin it.
#pragma once

#include "engine/execution/job.h"

#include <string>

namespace kernelskill::engine::emulator {

/// Whether something that a kernel reads was made up: its launch, or the contents of a buffer.
[[nodiscard]] bool hasGuessedInputs(const LaunchSpec& launch);

/// "kernelskill: launch insert<<<4, 256>>>(table=rand[4096, 0..64], n=1024)": what was launched, to
/// be changed by the user.
[[nodiscard]] std::string pinExample(const LaunchSpec& launch);

} // namespace kernelskill::engine::emulator
