/// Measures the maximum throughput of a device with special kernels.
#pragma once

#include "engine/execution/gpu/runner/device.h"
#include "engine/execution/gpu/runner_wire.h"

namespace kernelskill::engine::gpu {

/// Takes about a second. `isFatal` is set if an error destroyed the context.
[[nodiscard]] Result<CeilingsAnswer> measureCeilings(Device& device, bool& isFatal);

} // namespace kernelskill::engine::gpu
