/// What a device reaches at best, found out by kernels that do nothing else.
#pragma once

#include "engine/execution/gpu/runner/device.h"
#include "engine/execution/gpu/runner_wire.h"

namespace kernelskill::engine::gpu {

/// Takes about a second. `isFatal` is set when an error cost the context.
[[nodiscard]] Result<CeilingsAnswer> measureCeilings(Device& device, bool& isFatal);

} // namespace kernelskill::engine::gpu
