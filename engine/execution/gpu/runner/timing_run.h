/// Times subjects side by side.
#pragma once

#include "engine/execution/gpu/runner/prepared_launch.h"
#include "engine/execution/gpu/runner_wire.h"

#include <span>

namespace kernelskill::engine::gpu {

/// `isFatal` is set when an error cost the context.
[[nodiscard]] Result<TimingAnswer> timeSubjects(Device& device, const TimingRequest& request,
                                                bool& isFatal);
/// The same for launches that are on the device already.
[[nodiscard]] Result<TimingAnswer> timeLaunches(Device& device,
                                                std::span<const PreparedLaunch* const> launches,
                                                const TimingPlan& plan, bool& isFatal);

} // namespace kernelskill::engine::gpu
