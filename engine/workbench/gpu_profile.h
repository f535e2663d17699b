/// A profile measured on a GPU, with what the emulator adds to it.
#pragma once

#include "engine/execution/gpu/gpu_executor.h"
#include "engine/review/reviewer.h"

#include <stop_token>

namespace kernelskill::engine {

/// Runs `launch` on `gpu`, and on `emulator` beside it. The emulator adds hazards, extents, and the
/// counts that the hardware was not asked for. If a buffer has no length yet, the emulator runs
/// first and finds it. All buffers of the profile's launch have lengths.
[[nodiscard]] Result<Profile> measureProfile(GpuExecutor& gpu, Executor& emulator, KernelRef kernel,
                                             const LaunchSpec& launch, const std::stop_token& stop,
                                             const ProgressSink& say);

} // namespace kernelskill::engine
