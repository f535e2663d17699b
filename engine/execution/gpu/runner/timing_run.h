/// Times subjects against each other.
#pragma once

#include "engine/execution/gpu/runner/cupti.h"
#include "engine/execution/gpu/runner/prepared_launch.h"
#include "engine/execution/gpu/runner_wire.h"

#include <span>

namespace kernelskill::engine::gpu {

/// `isFatal` is set if an error destroyed the context.
[[nodiscard]] Result<TimingAnswer> timeSubjects(Device& device, const Cupti* cupti,
                                                const TimingRequest& request, bool& isFatal);
/// The same for launches that are already on the device.
[[nodiscard]] Result<TimingAnswer> timeLaunches(Device& device, const Cupti* cupti,
                                                std::span<const PreparedLaunch* const> launches,
                                                const TimingPlan& plan, bool& isFatal);

} // namespace kernelskill::engine::gpu
