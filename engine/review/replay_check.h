/// What a run makes of a program's own launch, against what that launch left behind.
#pragma once

#include "engine/execution/profile.h"
#include "engine/verdict/verdict.h"

#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// `outputs` are those of `launch`, captured from a program, run whole with the original kernel by
/// `runner`, "the emulator" or "the GPU".
/// Says of each buffer whose results are known whether it agrees; nothing is held against an edit,
/// for the kernel may have changed since. Passed, without a detail, where nothing is known.
[[nodiscard]] Check checkReplay(const LaunchSpec& launch,
                                const std::vector<BufferContents>& outputs,
                                std::string_view runner);

} // namespace kernelskill::engine
