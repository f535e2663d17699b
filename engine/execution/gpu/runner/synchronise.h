/// Waiting for a kernel, and what it did wrong.
#pragma once

#include "engine/execution/gpu/runner/cuda_driver.h"

namespace kernelskill::engine::gpu {

/// Waits for the whole device. What a kernel did wrong comes as its own error, in words for whoever
/// wrote it; `isFatal` is set when the context is lost with it.
[[nodiscard]] Result<void> synchronise(const CudaDriver& driver, bool& isFatal);

} // namespace kernelskill::engine::gpu
