/// Waits for a kernel and reports its errors.
#pragma once

#include "engine/execution/gpu/runner/cuda_driver.h"

namespace kernelskill::engine::gpu {

/// Waits for the whole device. A kernel's mistake is returned as an error in the user's terms;
/// `isFatal` is set if it destroyed the context.
[[nodiscard]] Result<void> synchronise(const CudaDriver& driver, bool& isFatal);

} // namespace kernelskill::engine::gpu
