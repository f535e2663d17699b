/// Times subjects side by side.
#pragma once

#include "engine/execution/gpu/runner/device.h"
#include "engine/execution/gpu/runner_wire.h"

namespace kernelskill::engine::gpu {

/// `isFatal` is set when an error cost the context.
[[nodiscard]] Result<TimingAnswer> timeSubjects(Device& device, const TimingRequest& request,
                                                bool& isFatal);

} // namespace kernelskill::engine::gpu
