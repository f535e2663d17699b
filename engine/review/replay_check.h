/// Compares a replay of a captured launch with the results that the program got.
#pragma once

#include "engine/execution/profile.h"
#include "engine/verdict/verdict.h"

#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// `outputs` are the results of `launch`, which was captured from a program. The original kernel
/// ran it completely on `runner`, "the emulator" or "the GPU". Says for each buffer with known
/// results whether they agree. A difference does not count against an edit, because the kernel may
/// have changed since the capture. Passes without a detail if no results are known.
[[nodiscard]] Check checkReplay(const LaunchSpec& launch,
                                const std::vector<BufferContents>& outputs,
                                std::string_view runner);

} // namespace kernelskill::engine
