/// Launches in words.
#pragma once

#include "engine/execution/job.h"

#include <string>

namespace kernelskill::lsp {

/// "4096" or "32×24" or "8×8×2".
[[nodiscard]] std::string describe(const engine::Dim3& dimensions);
/// "grid 4096, block 256" and ", 1024 bytes of dynamic shared memory" where there is some.
[[nodiscard]] std::string describeLaunch(const engine::LaunchSpec& launch);
/// "n=1048576, a=2, x[1048576] random"
[[nodiscard]] std::string describeArguments(const engine::LaunchSpec& launch);

} // namespace kernelskill::lsp
