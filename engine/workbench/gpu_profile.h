/// A profile measured on a GPU, with what the emulator adds to it.
#pragma once

#include "engine/execution/gpu/gpu_executor.h"
#include "engine/review/reviewer.h"

#include <stop_token>

namespace kernelskill::engine {

/// Runs `launch` on `gpu`, and on `emulator` beside it: hazards, extents, and counts that the
/// hardware was not asked for are the emulator's. Where buffers have no lengths yet, the emulator
/// goes first and says them. The launch of the profile has them all.
[[nodiscard]] Result<Profile> measureProfile(GpuExecutor& gpu, Executor& emulator, KernelRef kernel,
                                             const LaunchSpec& launch, const std::stop_token& stop,
                                             const ProgressSink& say);

} // namespace kernelskill::engine
